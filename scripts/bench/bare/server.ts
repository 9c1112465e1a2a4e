/**
 * The bare server of the benchmark: node:http, the driver, a static token that is looked up in a set, and one prepared statement
 * for each scenario of `bare-server-scenarios.ts`. The difference to it is what the service adds.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { BenchScenario } from '../bench-scenarios.ts';
import { createBenchPool, createBenchScenarioFinder, readBodyText } from '../hand-written-shared.ts';
import { BARE_SERVER_SCENARIOS } from './bare-server-scenarios.ts';

const tokens = new Set((process.env.BARE_TOKENS ?? '').split(' ').map((token) => `Bearer ${token}`));

const pool = createBenchPool('bare', process.env.BARE_DATABASE_URL);
const find = createBenchScenarioFinder(BARE_SERVER_SCENARIOS);

/** Parameters of the statement of a shape. A batch is passed on as JSON text, which PostgreSQL parses. */
async function valuesOf(
  { kind, body, params }: BenchScenario,
  id: string,
  request: IncomingMessage,
): Promise<unknown[]> {
  if (!body) return [...(params?.(id, undefined as never) ?? [])];
  const text = await readBodyText(request);
  if (kind === 'batch') return [text];
  const parsed = JSON.parse(text);
  return [...(params?.(id, parsed as never) ?? [])];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!tokens.has(request.headers.authorization ?? ''))
    return void response.writeHead(401, { 'Content-Length': 0 }).end();
  const found = find(`${request.method} ${request.url}`);
  if (!found) return void response.writeHead(404, { 'Content-Length': 0 }).end();
  const { shape, id } = found;
  const values = await valuesOf(shape, id, request);
  const { rows } = await pool.query<{ data: string }>({ name: shape.name, text: shape.ideal, values });
  const text = `{"data":${rows[0]?.data}}`;
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500, { 'Content-Length': 0 }).end();
  });
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));

// Exits on SIGTERM, so that Node writes its CPU profile, and when the benchmark has been killed, so that no server is left
// behind.
process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
