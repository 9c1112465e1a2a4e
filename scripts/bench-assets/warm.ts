import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FreshDatabase } from '../../test/support/database.ts';
import { buildRequestBytes } from '../bench/http-load-generator.ts';
import { type LoadFigures, measureLoad, medians } from '../bench/load-figures.ts';
import type { AssetBenchServers } from './compared-servers.ts';

export interface WarmAssetOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

export interface WarmAssetBenchScenario {
  readonly name: string;
  /** Paths that are requested in turn, the same bytes under each. */
  paths(sides: AssetBenchServers, database: FreshDatabase): Promise<readonly string[]> | readonly string[];
  readonly as: 'public' | 'token';
  /**
   * Smallest allowed ratio of the service's requests per second to those of the bare server; without it the figures are only
   * printed.
   */
  readonly aim?: number;
}

/** Variants of about 20, 45 and 70 KB. */
const variants = [
  ['small', '?width=480&format=webp'],
  ['medium', '?width=1000&format=webp'],
  ['large', '?width=1100&format=jpg&quality=70'],
] as const;

/** More files than the service keeps in memory, so that each is read from storage again. */
const MANY = 600;

export const WARM_ASSET_BENCH_SCENARIOS: readonly WarmAssetBenchScenario[] = [
  ...variants.flatMap(([name, query]) =>
    (['public', 'token'] as const).map((as) => ({
      name: `${name}, ${as}`,
      paths: ({ picture }: AssetBenchServers) => [`/assets/${picture.id}${query}`],
      as,
      aim: 0.8,
    })),
  ),
  {
    name: `${MANY} files, token`,
    as: 'token',
    async paths({ ground }, database) {
      const bytes = randomBytes(45_000);
      const paths: string[] = [];
      for (let at = 0; at < MANY; at++)
        paths.push(
          `/assets/${await ground.file(database, bytes, { type: 'image/webp', filename_download: 'a.webp' })}`,
        );
      return paths;
    },
  },
];

export interface WarmAssetFigures {
  readonly bytes: number;
  readonly service: LoadFigures;
  readonly bare: LoadFigures;
}

/**
 * Measures requests for the same bytes to the service and the bare server, in turn, so that other load on the machine affects
 * both.
 */
export async function measureWarmAssets(
  { paths, as }: WarmAssetBenchScenario,
  sides: AssetBenchServers,
  { seconds, rounds, connections }: WarmAssetOptions,
  database: FreshDatabase,
): Promise<WarmAssetFigures> {
  const { service, bare, folder } = sides;
  const requested = await paths(sides, database);
  const headers = as === 'token' ? { Authorization: `Bearer ${service.admin.token}` } : ({} as Record<string, string>);
  const variant = await bytesFrom(service.url + requested[0], headers);
  const files = requested.map((_, at) => `/${at}.webp`);
  for (const file of files) await writeFile(join(folder, file), variant);
  if (!variant.equals(await bytesFrom(bare.url.origin + files[0], {}))) throw new Error('the bytes differ');

  const url = new URL(service.url);
  const lines = Object.entries(headers).map((pair) => pair.join(': '));
  const each = (to: URL, all: readonly string[]) =>
    inTurn(all.map((path) => buildRequestBytes(to, lines, { method: 'GET', path })));
  const targets = {
    service: { url, pid: service.pid, application: 'tenon', next: each(url, requested) },
    bare: { ...bare, application: 'none', next: each(bare.url, files) },
  };
  const taken = { service: [] as LoadFigures[], bare: [] as LoadFigures[] };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? (['service', 'bare'] as const) : (['bare', 'service'] as const);
    for (const side of order) {
      const { next, ...target } = targets[side];
      // The first round only warms up.
      const options = { connections, seconds: round === 0 ? 2 : seconds };
      const figures = await measureLoad(target, next, options, database);
      if (round > 0) taken[side].push(figures);
    }
  }
  return { bytes: variant.length, service: medians(taken.service), bare: medians(taken.bare) };
}

async function bytesFrom(url: string, headers: Record<string, string>): Promise<Buffer> {
  const response = await fetch(url, { headers });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

function inTurn<T>(all: readonly T[]): () => T {
  let at = 0;
  return () => all[at++ % all.length] as T;
}
