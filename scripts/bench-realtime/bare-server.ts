import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

// The least that a server of sockets can be: it accepts connections and answers every message with a text.

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, clientTracking: false });
server.on('connection', (socket) => {
  socket.on('message', () => socket.send('{"type":"subscription","event":"init","data":[],"uid":"1"}'));
  socket.on('error', () => {});
});
server.on('listening', () => process.send?.((server.address() as AddressInfo).port));
