import { createHash } from 'node:crypto';
import sharp from 'sharp';

/** What the sample put into a service, to be found again. */
export interface Sample {
  readonly email: string;
  readonly password: string;
  readonly file: string;
  readonly fileDigest: string;
  /** The id of a flow that a request starts. */
  readonly flow: string;
}

type Send = (method: string, path: string, body?: object | FormData) => Promise<Response>;

const TEXTS = ['first', 'second'];

/** Creates a collection with items, a folder, a file and a flow as the first admin, whose password is in `output`. */
export async function createSample(port: number, output: string): Promise<Sample> {
  const [, email = '', password = ''] = /e-mail\s+(\S+)\s+password\s+(\S+)/.exec(output) ?? [];
  const send = await signIn(port, email, password);
  const fields = [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'text', type: 'string' },
  ];
  await send('POST', '/collections', { collection: 'note', schema: {}, fields });
  await send('POST', '/items/note', TEXTS.map((text) => ({ text })) as object);
  await send('POST', '/folders', { name: 'Pictures' });
  const image = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#0e7c66' } })
    .png()
    .toBuffer();
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(image)], { type: 'image/png' }), 'green.png');
  const file = await idOf(send('POST', '/files', form));
  const flow = await idOf(
    send('POST', '/flows', {
      name: 'Shout',
      status: 'active',
      trigger: 'webhook',
      accountability: 'all',
      options: { method: 'GET', return: '$last' },
    }),
  );
  const operation = await idOf(
    send('POST', '/operations', {
      flow,
      name: 'Shout',
      key: 'shout',
      type: 'shout',
      position_x: 1,
      position_y: 1,
      options: { template: 'hello from a template' },
    }),
  );
  await send('PATCH', `/flows/${flow}`, { operation });
  return { email, password, file, fileDigest: digest(image), flow };
}

/**
 * Reads everything back, and uses what has a process or files of its own: images, templates, confined code, pages.
 * @throws Error that names what is missing
 */
export async function assertSampleIsIntact(
  port: number,
  { email, password, file, fileDigest, flow }: Sample,
): Promise<void> {
  const send = await signIn(port, email, password);
  const text = async (path: string) => (await send('GET', path)).text();
  const items = await text('/items/note?fields=text&sort=id');
  assertSame('items', items, JSON.stringify({ data: TEXTS.map((one) => ({ text: one })) }));
  assertSame(
    'GraphQL',
    await text('/graphql?query={note(sort:["id"]){text}}'),
    `{"data":{"note":${items.slice(8, -1)}}}`,
  );
  assertSame('folders', await text('/folders?fields=name'), '{"data":[{"name":"Pictures"}]}');
  assertSame('file', digest(new Uint8Array(await (await send('GET', `/assets/${file}`)).arrayBuffer())), fileDigest);
  const small = await send('GET', `/assets/${file}?width=30&format=webp`);
  const { format, width } = await sharp(await small.arrayBuffer()).metadata();
  assertSame('image', `${format} ${width}`, 'webp 30');
  assertSame('confined endpoint', await text('/hello/Ann'), '{"message":"Hello, Ann!","signedIn":true}');
  assertSame('full authority', await text('/size'), '{"notes":2}');
  assertSame('plugin', await text('/trial-plugin'), 'Hello.');
  const answer = await text(`/flows/trigger/${flow}`);
  if (!answer.includes('HELLO FROM A TEMPLATE')) throw new Error(`the flow answered ${answer}`);
  for (const page of ['/graphql', '/server/specs/oas/page']) await assertPageIsComplete(port, page);
}

/** Loads a page as a browser does, and the scripts and style sheets that it names. */
async function assertPageIsComplete(port: number, path: string): Promise<void> {
  const address = `http://127.0.0.1:${port}${path}`;
  const page = await (await fetch(address, { headers: { Accept: 'text/html' } })).text();
  const files = [...page.matchAll(/(?:src|href)="([^":]+\.(?:js|css))"/g)].map(([, file]) => file as string);
  if (files.length < 2) throw new Error(`${path} names no files:\n${page.slice(0, 500)}`);
  for (const file of files) {
    const reply = await fetch(new URL(file, address));
    if (!reply.ok || (await reply.arrayBuffer()).byteLength === 0)
      throw new Error(`${file} of ${path}: ${reply.status}`);
  }
}

async function signIn(port: number, email: string, password: string): Promise<Send> {
  const send = createSend(port, {});
  const { data } = (await (await send('POST', '/auth/login', { email, password })).json()) as {
    data: { access_token: string };
  };
  return createSend(port, { Authorization: `Bearer ${data.access_token}` });
}

const createSend =
  (port: number, headers: Readonly<Record<string, string>>): Send =>
  async (method, path, body) => {
    const isForm = body === undefined || body instanceof FormData;
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: isForm ? headers : { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: isForm ? (body as FormData) : JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return reply;
  };

const idOf = async (reply: Promise<Response>): Promise<string> =>
  ((await (await reply).json()) as { data: { id: string } }).data.id;

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function assertSame(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}
