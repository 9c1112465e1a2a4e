import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Failure } from '#kernel';
import { withForm } from '../../../plugins/files/multipart/with-form.ts';
import { UnfinishedBodyMemoryBudget } from '../../../plugins/http/body-memory.ts';
import { captureError } from '../../support/test-plugins.ts';

interface Read {
  readonly files: { filename: string; type?: string; fields: Record<string, string>; text: string }[];
  readonly rest: Record<string, string>;
}

type FormOf = Parameters<Parameters<typeof withForm>[2]>[0];

interface Reading {
  readonly maxFiles?: number;
  readonly idleTimeout?: number;
  /** Reads the form. Default: reads all files and fields. */
  readonly work?: (form: FormOf) => Promise<unknown>;
}

const LINE = '\r\n';
const part = (headers: readonly string[], text: string, boundary = 'b') =>
  [`--${boundary}`, ...headers, '', text, ''].join(LINE);
const field = (name: string, text: string) => part([`Content-Disposition: form-data; name="${name}"`], text);
const file = (filename: string, text: string, ...more: string[]) =>
  part([`Content-Disposition: form-data; name="file"; filename="${filename}"`, ...more], text);
const TYPE = 'multipart/form-data; boundary=b';
const END = `--b--${LINE}`;

describe('withForm, the parser of multipart forms', () => {
  let server: Server;
  let take: (req: IncomingMessage) => Promise<void>;
  const sockets: Socket[] = [];
  before(async () => {
    server = createServer(async (req, res) => {
      await take(req);
      res.end('done');
    }).listen(0, '127.0.0.1');
    server.on('connection', (socket) => void sockets.push(socket));
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const readAll = async (form: FormOf): Promise<Read> => {
    const files: Read['files'] = [];
    for (let one = await form.nextFile(); one; one = await form.nextFile()) {
      const bytes: Uint8Array[] = [];
      for await (const some of one.bytes) bytes.push(some);
      const { filename, type, fields } = one;
      const text = Buffer.concat(bytes).toString('latin1');
      files.push({ filename, ...(type === undefined ? {} : { type }), fields: Object.fromEntries(fields), text });
    }
    return { files, rest: Object.fromEntries(form.remainingFields()) };
  };

  /** Sends one form in these chunks over a new connection, and returns what the parser reads. */
  async function reading(
    bodies: readonly (string | Buffer)[],
    { maxFiles, idleTimeout = 0, work = readAll }: Reading = {},
    { type = TYPE, length = true, end = true, last = async (_socket: Socket) => {} } = {},
  ): Promise<Read> {
    const all = bodies.map((body) => Buffer.from(body as string, 'latin1'));
    const result = new Promise<Read>((resolve, reject) => {
      take = (req) =>
        withForm(
          { req, state: { settings: { idleTimeout, memory: new UnfinishedBodyMemoryBudget(1e9) } } } as never,
          maxFiles === undefined ? {} : { maxFiles },
          work,
        ).then((got) => resolve(got as Read), reject);
    });
    result.catch(() => {});
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    const sum = all.reduce((size, one) => size + one.length, 0);
    const body = length ? `content-length: ${sum}` : 'transfer-encoding: chunked';
    socket.write(`POST / HTTP/1.1${LINE}host: x${LINE}content-type: ${type}${LINE}${body}${LINE}${LINE}`);
    for (const one of all) {
      if (length) socket.write(one);
      else if (one.length > 0)
        socket.write(Buffer.concat([Buffer.from(`${one.length.toString(16)}${LINE}`), one, Buffer.from(LINE)]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!length && end) socket.write(`0${LINE}${LINE}`);
    await last(socket);
    try {
      return await result;
    } finally {
      socket.destroy();
    }
  }
  const refused = async (...args: Parameters<typeof reading>) => {
    const { code, status } = await captureError<Failure>(reading(...args));
    return [status, code];
  };

  const TYPICAL =
    field('title', 'A title') +
    field('tags', 'a,b') +
    file('a.txt', 'one\r\n--a boundary\r\n-\n--b', 'Content-Type: text/plain; charset=utf-8') +
    field('title', 'Another') +
    file('b.bin', '\x00\xff\r\n\r\n', 'Content-Type: application/octet-stream') +
    field('title', 'too late') +
    END;
  const EXPECTED: Read = {
    files: [
      {
        filename: 'a.txt',
        type: 'text/plain; charset=utf-8',
        fields: { title: 'A title', tags: 'a,b' },
        text: 'one\r\n--a boundary\r\n-\n--b',
      },
      {
        filename: 'b.bin',
        type: 'application/octet-stream',
        fields: { title: 'Another' },
        text: '\x00\xff\r\n\r\n',
      },
    ],
    rest: { title: 'too late' },
  };

  it('a file gets the fields between the previous file and itself, and no others', async () => {
    expect(await reading([TYPICAL])).to.deep.equal(EXPECTED);
  });

  it('a form split into two TCP writes at any byte reads the same', async () => {
    for (let at = 1; at < TYPICAL.length; at++)
      expect(await reading([TYPICAL.slice(0, at), TYPICAL.slice(at)]), `split at ${at}`).to.deep.equal(EXPECTED);
  });

  it('a chunked form sent byte by byte reads the same', async () => {
    expect(await reading([...TYPICAL], {}, { length: false })).to.deep.equal(EXPECTED);
  });

  it('a form may have a preamble, an epilogue, a file of 3 MB and an empty file', async () => {
    const long = 'x'.repeat(3_000_000);
    const body = `preamble${LINE}${file('long.txt', long)}${file('empty.txt', '')}${END}epilogue`;
    const { files } = await reading([body]);
    expect(files.map(({ filename, text }) => [filename, text.length])).to.deep.equal([
      ['long.txt', long.length],
      ['empty.txt', 0],
    ]);
    expect(files[0]?.text === long).to.equal(true);
  });

  it('filename and filename* are read in every notation that clients send', async () => {
    const named = async (disposition: string) =>
      (await reading([part([`Content-Disposition: form-data; ${disposition}`], 'x') + END])).files[0]?.filename;
    expect(await named('name="file"; filename="a b.txt"')).to.equal('a b.txt');
    expect(await named('name=file; filename=a.txt')).to.equal('a.txt');
    expect(await named(`name="file"; filename="${Buffer.from('ünï.txt').toString('latin1')}"`)).to.equal('ünï.txt');
    expect(await named('name="file"; filename="a\\"b;c.txt"')).to.equal('a"b;c.txt');
    expect(await named('name="file"; filename*=UTF-8\'\'caf%C3%A9.png')).to.equal('café.png');
    expect(await named('name="file"; filename="x"; filename*=utf-8\'en\'%E2%82%AC.txt')).to.equal('€.txt');
    expect(await named('name="file"; filename="C:\\folder\\a.txt"')).to.equal('C:\\folder\\a.txt');
  });

  it('fields called __proto__ and constructor are plain fields', async () => {
    const { rest } = await reading([field('__proto__', '{"polluted":true}') + field('constructor', 'x') + END]);
    expect(Object.entries(rest)).to.deep.equal([
      ['__proto__', '{"polluted":true}'],
      ['constructor', 'x'],
    ]);
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
  });

  it('a malformed form is rejected with INVALID_PAYLOAD', async () => {
    const bodies = {
      nothing: '',
      'no boundary': 'nonsense',
      'another boundary': TYPICAL.replaceAll('--b', '--c'),
      'no disposition': part(['Content-Type: text/plain'], 'x') + END,
      'another disposition': part(['Content-Disposition: attachment; name="a"'], 'x') + END,
      'no name': part(['Content-Disposition: form-data'], 'x') + END,
      'no end of a quote': part(['Content-Disposition: form-data; name="a'], 'x') + END,
      'no headers': `--b${LINE}${END}`,
      'a file without a name': part(['Content-Disposition: form-data; name="file"; filename=""'], 'x') + END,
      'a file without any name':
        part(['Content-Disposition: form-data; name="file"', 'Content-Type: image/png'], 'x') + END,
      'a NUL in a name': field('a\0b', 'x') + END,
      'a NUL in a text': field('a', 'x\0y') + END,
      'too long a name': field('a'.repeat(256), 'x') + END,
      'too long headers': part([`Content-Disposition: form-data; name="${'a'.repeat(20_000)}"`], 'x') + END,
    };
    for (const [what, body] of Object.entries(bodies))
      expect(await refused([body]), what).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('a form cut off at any byte is rejected with INVALID_PAYLOAD', async () => {
    // The form is complete with the two dashes of its last boundary; only the final CRLF may be missing.
    for (let end = 0; end < TYPICAL.length - LINE.length; end++)
      expect(await refused([TYPICAL.slice(0, end)]), `ends at ${end}`).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('a form that is malformed after a file is rejected before the reader gets the end of that file', async () => {
    for (const rest of ['', '--b', `--b${LINE}`, part(['Content-Type: text/plain'], 'x') + END]) {
      let isWhole = false;
      const work = async (form: FormOf) => {
        const one = await form.nextFile();
        for await (const _part of one?.bytes ?? []);
        isWhole = true;
      };
      expect(await refused([file('a.txt', 'one') + rest], { work })).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(isWhole).to.equal(false);
    }
  });

  it('a form with too much text, too many parts or too many files is rejected', async () => {
    expect(await refused([field('a', 'x'.repeat(1_100_000)) + END])).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    const halves = field('a', 'x'.repeat(600_000)) + field('b', 'x'.repeat(600_000));
    expect(await refused([halves + END])).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    const many = Array.from({ length: 1001 }, (_, at) => field(`f${at}`, 'x')).join('');
    expect(await refused([many + END])).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    const two = file('a.txt', '1') + file('b.txt', '2') + END;
    expect(await refused([two], { maxFiles: 1 })).to.deep.equal([400, 'INVALID_PAYLOAD']);
    const one = file('a.txt', '1') + field('a', '2') + END;
    expect((await reading([one], { maxFiles: 1 })).files).to.have.length(1);
  });

  it('a Content-Type that is no valid multipart/form-data is rejected with 415 or INVALID_PAYLOAD', async () => {
    const as = (type: string) => refused([TYPICAL], {}, { type });
    expect(await as('multipart/mixed; boundary=b')).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await as('multipart/form-data')).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await as('multipart/form-data; boundary=')).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await as(`multipart/form-data; boundary=${'b'.repeat(71)}`)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await as('multipart/form-data; boundary="b')).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await reading([TYPICAL], {}, { type: 'Multipart/Form-Data; charset=utf-8; boundary="b"' })).to.deep.equal(
      EXPECTED,
    );
  });

  it('reading a form fails with ClientGone when the client disconnects', async () => {
    const started = file('a.txt', 'x'.repeat(100_000)).slice(0, -2);
    for (const body of ['', field('a', 'x'), started]) {
      const cut = async (socket: Socket) => void socket.destroySoon();
      const failure = await captureError(reading([body, 'x'], {}, { length: false, last: cut, end: false }));
      expect(failure.name, body.slice(0, 10)).to.equal('ClientGone');
    }
  });

  it('a client that sends nothing for the idle timeout gets OUT_OF_TIME', async () => {
    const started = performance.now();
    for (const body of ['', field('a', 'x'), file('a.txt', 'x'.repeat(100_000)).slice(0, -2)]) {
      const waited = refused([body, 'x'], { idleTimeout: 100 }, { length: false, end: false });
      expect(await waited).to.deep.equal([408, 'OUT_OF_TIME']);
    }
    expect(performance.now() - started).to.be.at.least(290);
  });

  it('a slow reader slows the connection down and does not trigger the idle timeout', async () => {
    const size = 20_000_000;
    let sent: number | undefined;
    const work = async (form: FormOf) => {
      const one = await form.nextFile();
      let taken = 0;
      for await (const some of one?.bytes ?? []) {
        if (taken === 0) await new Promise((resolve) => setTimeout(resolve, 3000));
        // Bytes that the server's connection received before the form was read.
        sent ??= sockets.at(-1)?.bytesRead;
        taken += some.length;
      }
      return taken;
    };
    expect(await reading([file('a.bin', 'x'.repeat(size)) + END], { idleTimeout: 2000, work })).to.equal(size);
    expect(sent).to.be.within(1, size / 4);
    // This form fits into the buffers, so all of it arrives before it is read.
    expect(await reading([file('a.bin', 'x') + END], { idleTimeout: 2000, work })).to.equal(1);
  });
});
