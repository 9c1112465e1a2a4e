import { setTimeout as pause } from 'node:timers/promises';
import type { TrialContainer } from './container.ts';
import type { ImageConfig } from './image.ts';

interface Place {
  readonly container: TrialContainer;
  readonly config: ImageConfig;
  readonly url: string;
  readonly admin: { readonly email: string; readonly password: string };
}

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export async function waitUntilAnswering(url: string, container: TrialContainer): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(50)) {
    if (container.hasEnded()) throw new Error(`the container ended:\n${container.output()}`);
    const reply = await fetch(`${url}/server/ping`).catch(() => undefined);
    if (reply?.ok) return;
  }
  throw new Error(`the container does not answer:\n${container.output()}`);
}

/** What the rules of the container do to the service: its user, its rights and what it may write. */
export function checkConfinement({ container }: Place): void {
  expect(
    'its user is 10001, of no other group',
    container.exec('id').output,
    /^uid=10001\S* gid=10001\S*( groups=10001\S*)?$/,
  );
  const status = container.exec('cat', '/proc/1/status').output;
  expect('it has no capability', status, /CapEff:\t0+\n.*CapBnd:\t0+\n/s);
  expect('it gets no new privileges', status, /NoNewPrivs:\t1/);
  for (const path of ['/written', '/opt/tenon/written', '/usr/local/bin/written'])
    expect(`${path} cannot be written`, container.exec('touch', path).output, /Read-only file system/);
  for (const path of ['/var/lib/tenon/written', '/tmp/written'])
    expect(`${path} can be written`, String(container.exec('touch', path).code), /^0$/);
}

/** The native parts: Argon2 behind a sign-in, sharp behind an image, isolated-vm behind a confined package. */
export async function checkService({ container, config, url, admin }: Place): Promise<string> {
  const [, ...command] = config.Healthcheck.Test;
  expect('the health check of the image succeeds', String(container.exec(...command).code), /^0$/);
  expect('its health is ok', await text(await fetch(`${url}/server/health`)), /"status":"(ok|warn)"/);
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(admin),
  });
  expect('the admin signs in (argon2)', String(login.status), /^200$/);
  const { access_token: token } = ((await login.json()) as { data: { access_token: string } }).data;
  const form = new FormData();
  form.set('file', new File([PIXEL], 'pixel.png', { type: 'image/png' }));
  const headers = { Authorization: `Bearer ${token}` };
  const uploaded = await fetch(`${url}/files`, { method: 'POST', headers, body: form });
  const { id } = ((await uploaded.json()) as { data: { id: string } }).data;
  const image = await fetch(`${url}/assets/${id}?width=8&height=8&format=webp`, { headers });
  expect(
    'an image is transformed (sharp)',
    `${image.status} ${image.headers.get('content-type')}`,
    /^200 image\/webp$/,
  );
  expect('a confined package answers (isolated-vm)', await text(await fetch(`${url}/hello/Ann`)), /Ann/);
  const list = (await (await fetch(`${url}/extensions`, { headers })).json()) as { meta?: unknown };
  console.log(`           confinement: ${JSON.stringify(list.meta ?? list).slice(0, 600)}`);
  return id;
}

/** A file that was stored before is there after a restart. */
export async function checkFileKept({ url, admin }: Place, id: string): Promise<void> {
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const { access_token: token } = ((await login.json()) as { data: { access_token: string } }).data;
  const reply = await fetch(`${url}/assets/${id}`, { headers: { Authorization: `Bearer ${token}` } });
  const isSame = Buffer.from(await reply.arrayBuffer()).equals(PIXEL);
  expect('the file of before is there after a restart', String(isSame), /^true$/);
}

const text = (reply: Response): Promise<string> => reply.text();

/** Prints what holds. @throws Error for what does not. */
export function expect(what: string, found: string, pattern: RegExp): void {
  if (!pattern.test(found)) throw new Error(`it is not so that ${what}: ${found}`);
  console.log(`     ok    ${what}`);
}
