// docs/clients/keyed.mjs on the cryptography that a browser has: platform_web.mjs, chosen where there is no `process`.

import { webcrypto } from 'node:crypto'

const { process } = globalThis
globalThis.crypto ??= webcrypto     // Node 18 has it by this name only
globalThis.process = undefined
await import('../../client/truc_web/lib/platform.mjs')
globalThis.process = process
await import('../../docs/clients/keyed.mjs')
