/**
 * What is made once, by whoever needs it first; once more if that has failed, as while a connection is lost.
 *
 * @template T
 * @param {() => Promise<T>} make
 * @returns {() => Promise<T>}
 */
export function madeOnce(make) {
  /** @type {Promise<T> | null} */
  let made = null
  return () => made ??= make().catch((fault) => {
    made = null
    throw fault
  })
}
