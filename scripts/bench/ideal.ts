/**
 * The least a server can do: node:http, pg, and for each shape the best statement we know, written by hand and kept
 * prepared. It checks no permission, parses no query, and serves the paths of `shapes.ts`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { SHAPES, type Shape } from './shapes.ts';

/** The service's session settings and size of pool. */
const pool = new pg.Pool({
  connectionString: process.env.IDEAL_DATABASE_URL,
  max: 10,
  application_name: 'ideal',
  idleTimeoutMillis: 60_000,
  options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c statement_timeout=60000',
});

const exact = new Map(SHAPES.map((shape) => [`${shape.method} ${shape.path}`, shape]));
/** Those with a key in their path. */
const keyed = SHAPES.filter(({ path }) => path.includes(':id')).map((shape) => {
  const [before = '', after = ''] = `${shape.method} ${shape.path}`.split(':id');
  return { shape, before, after };
});

function find(target: string): { shape: Shape; id: string } | undefined {
  const shape = exact.get(target);
  if (shape) return { shape, id: '' };
  const found = keyed.find(({ before, after }) => target.startsWith(before) && target.endsWith(after));
  return found && { shape: found.shape, id: target.slice(found.before.length, target.length - found.after.length) };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const found = find(`${request.method} ${request.url}`);
  if (!found) return void response.writeHead(404, { 'Content-Length': 0 }).end();
  const { shape, id } = found;
  const body = shape.body ? await bodyOf(request) : undefined;
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

// An orderly end, so that a profile is written; and none is left behind by a bench that was killed.
process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
