/** The attackers, in a process of their own whose work waits for that of everybody else: strangers bring their own processors. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

export interface HostileLoad {
  readonly url: string;
  /** For those who read the locked table. */
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
export type Endings = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Before it stalls a body has sent this much of what it promised. */
const SENT_BYTES = 900 * 1024;
const PROMISED_BYTES = 1000 * 1024;
/** After a refusal, in milliseconds: who is refused tries again. */
const AGAIN_MS = 100;
/** After the end of a body, which cost its sender a megabyte: at least, and at most. Strangers do not keep step. */
const NEXT_BODY_MS = { least: 10_000, most: 20_000 };

setPriority(0, constants.priority.PRIORITY_LOW);
const load = JSON.parse(process.argv[2] ?? '{}') as HostileLoad;
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

/** Sends the beginning of a body and says nothing more until the service ends the connection; then the next one. */
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

/** By turns for a user who exists and for one who does not: their answers take the same work and other ways. */
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
// All of them have begun.
setTimeout(() => process.send?.('begun'), 2000);
