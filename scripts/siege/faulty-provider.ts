import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a sign-in provider does wrong. */
export type ProviderFault = 'hangs' | 'answers garbage' | 'answers 10 MB';

const LARGE = Buffer.alloc(10 * 2 ** 20, 'x');

const ANSWERS: Readonly<Record<ProviderFault, (response: ServerResponse) => void>> = {
  hangs: () => {},
  'answers garbage': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('\u0001<'),
  'answers 10 MB': (response) => {
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/json' }).end(LARGE);
  },
};

/** A provider in a process of its own: sends its address, and takes the fault of all answers to come. */
let fault: ProviderFault = 'hangs';
process.on('message', (next: ProviderFault) => {
  fault = next;
});
process.on('disconnect', () => process.exit());
const server = createServer((_request, response) => ANSWERS[fault](response));
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
