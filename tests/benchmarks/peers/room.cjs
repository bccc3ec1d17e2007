// A bare room server over WebSocket on a free port of loopback, which it prints: it passes on what comes to everybody in the room that is named
// by the path, and knows no rules.

const { WebSocketServer } = require("ws");

const rooms = new Map();
const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => console.log(server.address().port));
server.on("connection", (socket, { url }) => {
  const room = rooms.get(url) ?? new Set();
  rooms.set(url, room.add(socket));
  socket.on("message", (message) => room.forEach((each) => each.send(message, { binary: false })));
  socket.on("close", () => room.delete(socket));
});
