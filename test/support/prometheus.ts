import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackDebianPackages } from './debian-packages.ts';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

/** One value of an instant query. */
export interface PrometheusSample {
  readonly metric: Readonly<Record<string, string>>;
  /** Time and value, as text. */
  readonly value: readonly [number, string];
}

export interface Prometheus {
  /** The result of a query now. @throws Error with the text of Prometheus for a query that it refuses. */
  query(text: string): Promise<readonly PrometheusSample[]>;
  /** What `promtool check metrics` objects to in a text of the format; empty for nothing. */
  lint(text: string): Promise<string>;
  stop(): Promise<void>;
}

const PACKAGE = {
  names: ['prometheus'],
  folder: '.prometheus',
  remedy: 'Tests of metrics run Prometheus from its Debian package: run them on a machine with apt-get and dpkg-deb.',
};

/** Starts a Prometheus that reads the metrics of a service each second, with a token of METRICS_TOKENS. */
export async function startPrometheus(target: { readonly url: string; readonly token: string }): Promise<Prometheus> {
  const { root, libraryPath } = await unpackDebianPackages(PACKAGE);
  const folder = await mkdtemp(join(tmpdir(), 'tenon-prometheus-'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { PATH: process.env.PATH, LD_LIBRARY_PATH: libraryPath };
  await writeFile(
    join(folder, 'prometheus.yml'),
    `scrape_configs:
  - job_name: tenon
    scrape_interval: 1s
    metrics_path: /metrics
    authorization: { type: Metrics, credentials: ${target.token} }
    static_configs: [{ targets: ['${new URL(target.url).host}'] }]
`,
  );
  const child = spawn(
    join(root, 'usr/bin/prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async query(text) {
      const reply = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`);
      const { status, data, error } = (await reply.json()) as {
        readonly status: string;
        readonly data?: { readonly result: readonly PrometheusSample[] };
        readonly error?: string;
      };
      if (status !== 'success') throw new Error(`${error}: ${text}`);
      return data?.result ?? [];
    },
    async lint(text) {
      const tool = spawn(join(root, 'usr/bin/promtool'), ['check', 'metrics'], { env, stdio: 'pipe' });
      tool.stdin.end(text);
      return outputOf(tool);
    },
    stop,
  };
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => (output += part));
  await once(child, 'close');
  return output.trim();
}

/** The queries of a dashboard of Grafana by the titles of its panels, with its variables replaced. */
export function queriesOfDashboard(text: string): readonly (readonly [title: string, query: string])[] {
  const { panels } = JSON.parse(text) as {
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(
      ({ expr }) => [title, expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')] as const,
    ),
  );
}
