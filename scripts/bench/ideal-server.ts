/**
 * The hand-written server of the benchmark: node:http, pg, and for each shape the best statement we know, kept prepared. It
 * checks no permission, parses no query, and serves the paths of `bench-scenarios.ts`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { BENCH_SCENARIOS } from './bench-scenarios.ts';
import { createBenchPool, createBenchScenarioFinder, readBodyText } from './hand-written-shared.ts';

const pool = createBenchPool('ideal', process.env.IDEAL_DATABASE_URL);
const find = createBenchScenarioFinder(BENCH_SCENARIOS);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const found = find(`${request.method} ${request.url}`);
  if (!found) return void response.writeHead(404, { 'Content-Length': 0 }).end();
  const { shape, id } = found;
  const body = shape.body ? JSON.parse(await readBodyText(request)) : undefined;
  const { rows } = await pool.query<{ data: string; meta?: string }>({
    name: shape.name,
    text: shape.ideal,
    values: [...(shape.params?.(id, body as never) ?? [])],
  });
  const [row] = rows;
  const text = `{"data":${row?.data}${row?.meta ? `,"meta":${row.meta}` : ''}}`;
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
