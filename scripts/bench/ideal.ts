/**
 * The least a server can do: node:http, pg, and for each shape the best statement we know, written by hand. It checks
 * no permission, parses no query and serves three paths.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { SHAPES } from './shapes.ts';

const pool = new pg.Pool({
  connectionString: process.env.IDEAL_DATABASE_URL,
  max: 10,
  application_name: 'ideal',
});
const byPath = new Map(SHAPES.map((shape) => [shape.path, shape]));

const server = createServer((request, response) => {
  const shape = byPath.get(request.url ?? '');
  if (!shape) {
    response.writeHead(404).end();
    return;
  }
  pool.query<{ data: string }>({ name: shape.name, text: shape.ideal, values: [...shape.params] }).then(
    ({ rows }) => {
      const body = `{"data":${rows[0]?.data}}`;
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
      });
      response.end(body);
    },
    (error) => {
      console.error(error);
      response.writeHead(500, { 'Content-Length': 0 }).end();
    },
  );
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
