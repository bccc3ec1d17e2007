// A server of boardgame.io on a free port of loopback, which it prints; matches are kept in memory, as it does by itself.

const { Server, Origins } = require("boardgame.io/server");
const { Truc } = require("./truc.cjs");

const server = Server({ games: [Truc], origins: [Origins.LOCALHOST] });
const listen = server.app.listen.bind(server.app);
server.app.listen = (port, done) => listen(port, "127.0.0.1", done); // by itself it listens to everybody
server.run({ port: 0 }).then(({ appServer }) => console.log(appServer.address().port));
