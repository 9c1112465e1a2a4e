// Functions that the hand-written servers, `ideal-server.ts` and `bare/server.ts`, share, so that neither has an advantage by
// them.

import type { IncomingMessage } from 'node:http';
import pg from 'pg';
import type { BenchScenario } from './bench-scenarios.ts';

/** Creates a connection pool with the session settings and the size of the pool of the service. */
export const createBenchPool = (name: string, connectionString: string | undefined): pg.Pool =>
  new pg.Pool({
    connectionString,
    max: 10,
    application_name: name,
    idleTimeoutMillis: 60_000,
    options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c statement_timeout=60000',
  });

/** Finds the shape that `<method> <path>` asks for, and the key in its path. */
export function createBenchScenarioFinder(
  shapes: readonly BenchScenario[],
): (target: string) => { shape: BenchScenario; id: string } | undefined {
  const exact = new Map(shapes.map((shape) => [`${shape.method} ${shape.path}`, shape]));
  /** Shapes with a key in their path. */
  const keyed = shapes
    .filter(({ path }) => path.includes(':id'))
    .map((shape) => {
      const [before = '', after = ''] = `${shape.method} ${shape.path}`.split(':id');
      return { shape, before, after };
    });
  return (target) => {
    const shape = exact.get(target);
    if (shape) return { shape, id: '' };
    const found = keyed.find(({ before, after }) => target.startsWith(before) && target.endsWith(after));
    return found && { shape: found.shape, id: target.slice(found.before.length, target.length - found.after.length) };
  };
}

export async function readBodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
