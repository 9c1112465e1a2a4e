import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What a sign-in provider does wrong, and where: `discovery` is the begin of a sign-in, `token` its end. `refuses` is nothing wrong: what
 * a provider answers to an unknown code.
 */
export interface ProviderFault {
  readonly answer: 'refuses' | 'hangs' | 'answers garbage' | 'answers 10 MB';
  readonly at: 'discovery' | 'token';
}

const PART = Buffer.alloc(2 ** 20, 'x');

const ANSWERS: Readonly<Record<ProviderFault['answer'], (response: ServerResponse) => void>> = {
  refuses: (response) =>
    void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
  hangs: () => {},
  'answers garbage': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('\u0001<'),
  // Without its length, so that the client has to read.
  'answers 10 MB': (response) => {
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/json' });
    for (let part = 0; part < 10; part++) response.write(PART);
    response.end();
  },
};

/** A provider in a process of its own: sends its address, and takes the fault of all answers to come. */
let fault: ProviderFault = { answer: 'hangs', at: 'discovery' };
let issuer = '';
process.on('message', (next: ProviderFault) => {
  fault = next;
});
process.on('disconnect', () => process.exit());
const server = createServer((request, response) => {
  if (fault.at === 'token' && request.url?.startsWith('/.well-known/'))
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
      }),
    );
  else ANSWERS[fault.answer](response);
});
server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.send?.(issuer);
});
