/**
 * The hostile clients, in a process of their own with low priority, since real clients do not use processors of the
 * service.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

export interface HostileClientOptions {
  readonly url: string;
  /** Token of the readers of the locked table. */
  readonly token: string;
  readonly packages: readonly string[];
  /** Wrong logins a second. */
  readonly logins: number;
  /** Bodies that stall at the same time. */
  readonly bodies: number;
  /** Readers of the locked table. */
  readonly readers: number;
}

/** Endings of requests by kind: statuses, or `no answer`. */
export type RequestOutcomeCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Bytes that a body sends of its announced length before it stalls. */
const SENT_BYTES = 900 * 1024;
const PROMISED_BYTES = 1000 * 1024;
/** Milliseconds until a refused client tries again. */
const AGAIN_MS = 100;
/** Milliseconds until the next stalled body of a client, drawn at random so that clients do not synchronize. */
const NEXT_BODY_MS = { least: 10_000, most: 20_000 };

setPriority(0, constants.priority.PRIORITY_LOW);
const load = JSON.parse(process.argv[2] ?? '{}') as HostileClientOptions;
const target = new URL(load.url);
const agent = new Agent({ keepAlive: true });
const endings: Record<string, Record<string, number>> = {};
let isOver = false;

const countEnding = (kind: string, ending: string | number) => {
  endings[kind] ??= {};
  const counts = endings[kind];
  counts[ending] = (counts[ending] ?? 0) + 1;
};

async function send(kind: string, path: string, body?: object, token?: string): Promise<void> {
  const status = await new Promise<number | string>((resolve) => {
    const sent = request(new URL(path, target), {
      agent,
      method: body ? 'POST' : 'GET',
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
    });
    sent.on('response', (answer) => {
      answer.resume();
      answer.on('close', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', () => resolve('no answer'));
    sent.end(body && JSON.stringify(body));
  });
  countEnding(kind, status);
  if (status !== 200) await pause(AGAIN_MS);
}

async function repeat(work: () => Promise<void>): Promise<void> {
  while (!isOver) await work();
}

/** Sends the beginning of a body and then nothing until the service closes the connection. */
const sendStalledBody = () =>
  new Promise<void>((resolve) => {
    const socket = connect(Number(target.port), target.hostname, () => {
      socket.write(
        `POST /items/note HTTP/1.1\r\nHost: ${target.host}\r\nContent-Type: application/json\r\nContent-Length: ${PROMISED_BYTES}\r\n\r\n[${' '.repeat(SENT_BYTES)}`,
      );
    });
    let answer = '';
    socket.on('data', (part) => {
      answer += part.toString().slice(0, 20);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      countEnding('stalled bodies', /^HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? 'closed');
      setTimeout(resolve, NEXT_BODY_MS.least + Math.random() * (NEXT_BODY_MS.most - NEXT_BODY_MS.least));
    });
  });

/** Alternates between an existing and an unknown user, whose answers take different code paths. */
const sendWrongLogin = (at: number) => {
  const email = at % 2 === 0 ? 'admin@example.com' : `unknown${at}@example.com`;
  return send('wrong logins', '/auth/login', { email, password: 'not this one' });
};
let attempts = 0;
const logins = load.logins > 0 ? setInterval(() => void sendWrongLogin(attempts++), 1000 / load.logins) : undefined;
for (let at = 0; at < load.bodies; at++) void repeat(sendStalledBody);
for (const name of load.packages) void repeat(() => send('waiting packages', `/${name}`));
for (let at = 0; at < load.readers; at++) {
  void repeat(() => send('a locked table', '/items/draft?limit=1', undefined, load.token));
}

process.on('message', () => {
  isOver = true;
  clearInterval(logins);
  process.send?.(endings, () => process.exit());
});
// By then all clients have started.
setTimeout(() => process.send?.('begun'), 2000);
