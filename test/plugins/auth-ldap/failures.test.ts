import type { Socket } from 'node:net';
import { expect } from 'chai';
import { LDAP_SUFFIX, startDirectory, type TestDirectory } from '../../support/ldap-server.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { ldapSettings, refusalOf, signInByLdap, startFalseDirectory } from './ldap-fixture.ts';

/** Milliseconds of AUTH_CORP_TIMEOUT, and what a busy machine may add to it. */
const LIMIT = 1500;
const SLACK = 15_000;

const message = (id: number, ...content: number[]): Buffer =>
  Buffer.from([0x30, content.length + 3, 2, 1, id, ...content]);
/** The answer that a bind, or StartTLS, succeeded. */
const BIND_SUCCESS = [0x61, 7, 10, 1, 0, 4, 0, 4, 0];
const STARTTLS_SUCCESS = [0x78, 7, 10, 1, 0, 4, 0, 4, 0];

describe('a directory that does not answer as it should', () => {
  let service: InProcessService | undefined;
  let falseDirectory: Awaited<ReturnType<typeof startFalseDirectory>> | undefined;

  async function startWith(answer: (socket: Socket) => void, settings: Record<string, string> = {}) {
    falseDirectory = await startFalseDirectory(answer);
    service = await startService({
      env: ldapSettings(falseDirectory, { AUTH_CORP_TIMEOUT: String(LIMIT), ...settings }),
    });
    return service;
  }
  afterEach(async () => {
    await service?.stop();
    await falseDirectory?.stop();
    service = undefined;
  });

  const answers: Readonly<Record<string, (socket: Socket) => void>> = {
    'answers nothing': () => {},
    'closes each connection': (socket) => socket.destroy(),
    'answers the text of a web server': (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'answers random bytes': (socket) =>
      void socket.write(Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 89) % 256))),
    'announces a message of two gibibytes and sends ten megabytes of it': (socket) => {
      socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]));
      socket.write(Buffer.alloc(10 * 1024 * 1024));
    },
    'sends thousands of small messages at once': (socket) =>
      void socket.write(Buffer.concat(Array.from({ length: 12_000 }, () => Buffer.from([0x30, 5, 2, 1, 1, 0x73, 0])))),
    'sends answers to requests that were never made without end': (socket) => {
      const part = Buffer.concat(Array.from({ length: 4000 }, () => message(9, ...BIND_SUCCESS)));
      const write = () => {
        while (!socket.destroyed && socket.write(part));
      };
      socket.on('drain', write);
      write();
    },
  };
  for (const [title, answer] of Object.entries(answers)) {
    it(`fails the sign-in with SERVICE_UNAVAILABLE within its limit where it ${title}`, async () => {
      const running = await startWith(answer);
      const begin = performance.now();
      expect(refusalOf(await signInByLdap(running, { identifier: 'Ann' }))).to.equal('503 SERVICE_UNAVAILABLE');
      expect(performance.now() - begin).to.be.lessThan(LIMIT + SLACK);
    });
  }

  it('fails the sign-in where nothing listens at its address', async () => {
    const running = await startWith(() => {});
    await falseDirectory?.stop();
    expect(refusalOf(await signInByLdap(running, { identifier: 'Ann' }))).to.equal('503 SERVICE_UNAVAILABLE');
  });

  it('answers plain reads and other sign-ins while a hundred sign-ins wait for it', async () => {
    const running = await startWith(() => {});
    let ended = 0;
    const waiting = Array.from({ length: 100 }, async () => {
      const reply = await signInByLdap(running, { identifier: 'Ann' });
      ended++;
      return refusalOf(reply);
    });
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const begin = performance.now();
      expect((await running.request('GET', '/users/me', { token: running.admin.token })).status).to.equal(200);
      times.push(performance.now() - begin);
    }
    const isWaiting = ended < 100;
    const { email, password } = running.admin;
    expect((await running.request('POST', '/auth/login', { body: { email, password } })).status).to.equal(200);
    expect(isWaiting, 'the reads were answered before the sign-ins ended').to.equal(true);
    expect(Math.max(...times)).to.be.lessThan(LIMIT + SLACK);
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set(['503 SERVICE_UNAVAILABLE']));
  });

  /** A directory that answers StartTLS with `answer`, made of the id of the request, and keeps what it receives afterwards. */
  async function startWithStartTls(answer: (id: number) => Buffer) {
    const received: Buffer[] = [];
    const running = await startWith(
      (socket) => {
        socket.once('data', (request: Buffer) => {
          received.push(request);
          socket.on('data', (part: Buffer) => received.push(part));
          socket.write(answer(request[4] as number));
        });
      },
      { AUTH_CORP_CLIENT_STARTTLS: 'true', AUTH_CORP_TIMEOUT: '5s' },
    );
    const refusal = refusalOf(await signInByLdap(running, { identifier: 'Ann' }));
    const [request, ...later] = received;
    expect(request?.toString('latin1')).to.contain('1.3.6.1.4.1.1466.20037');
    return { refusal, later: Buffer.concat(later) };
  }

  it('begins the encryption where the directory agrees', async () => {
    const { refusal, later } = await startWithStartTls((id) => message(id, ...STARTTLS_SUCCESS));
    expect(refusal).to.equal('503 SERVICE_UNAVAILABLE');
    // A handshake of TLS, which this directory does not answer.
    expect(later[0]).to.equal(0x16);
  });

  it('begins none, and sends nothing else, where the begin of a forged answer stands in front of it', async () => {
    const forged = (id: number) => message(id + 1, ...BIND_SUCCESS).subarray(0, 8);
    const { refusal, later } = await startWithStartTls((id) =>
      Buffer.concat([message(id, ...STARTTLS_SUCCESS), forged(id)]),
    );
    expect([refusal, later.length]).to.deep.equal(['503 SERVICE_UNAVAILABLE', 0]);
  });

  it('sends nothing else where it refuses the encryption', async () => {
    const PROTOCOL_ERROR = [0x78, 7, 10, 1, 2, 4, 0, 4, 0];
    const { refusal, later } = await startWithStartTls((id) => message(id, ...PROTOCOL_ERROR));
    expect([refusal, later.length]).to.deep.equal(['503 SERVICE_UNAVAILABLE', 0]);
  });
});

describe('the settings of a provider with the driver ldap', () => {
  const wrong: Readonly<Record<string, Record<string, string>>> = {
    AUTH_CORP_CLIENT_URL: { AUTH_CORP_CLIENT_URL: 'http://directory.example.com' },
    AUTH_CORP_USER_FILTER: { AUTH_CORP_USER_FILTER: '(objectClass=person' },
    AUTH_CORP_USER_ATTRIBUTE: { AUTH_CORP_USER_ATTRIBUTE: 'cn)(uid' },
    AUTH_CORP_USER_SCOPE: { AUTH_CORP_USER_SCOPE: 'all' },
    AUTH_CORP_CLIENT_STARTTLS: { AUTH_CORP_CLIENT_URL: 'ldaps://localhost', AUTH_CORP_CLIENT_STARTTLS: 'true' },
    'AUTH_CORP_USER_DNS (did you mean AUTH_CORP_USER_DN?)': { AUTH_CORP_USER_DNS: 'x' },
    'provider corp has no USER_DN': { AUTH_CORP_USER_DN: '' },
  };
  for (const [name, settings] of Object.entries(wrong)) {
    it(`stop the start and name the mistake: ${name}`, async () => {
      const database = await createMigratedDatabase('ldap-settings');
      const env = ldapSettings({ url: 'ldap://localhost' }, settings);
      const error = await startService({ database, env }).then(
        async (service) => service.stop(),
        (reason: Error) => reason,
      );
      await database.drop();
      expect(String((error as Error)?.message)).to.contain(name);
    });
  }
});

describe('a directory that stops and comes back', () => {
  let directory: TestDirectory;
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    directory = await startDirectory();
    await directory.addPerson('Ann');
    service = await startService({ env: ldapSettings(directory, { AUTH_CORP_TIMEOUT: '10s', LOG_LEVEL: 'info' }) });
  });
  after(async () => {
    directory?.thaw();
    await service?.stop();
    await directory?.stop();
  });

  it('is asked anew by the next sign-in', async () => {
    directory.freeze();
    const late = signInByLdap(service, { identifier: 'Ann' });
    expect(refusalOf(await late)).to.equal('503 SERVICE_UNAVAILABLE');
    directory.thaw();
    expect((await signInByLdap(service, { identifier: 'Ann' })).status).to.equal(200);
  });

  it('names no password, and only what the log needs, in lines of the log', () => {
    const lines = JSON.stringify(service.log);
    expect(lines).to.contain('a sign-in by corp failed');
    expect(lines).to.not.contain('a password of the directory').and.not.contain(LDAP_SUFFIX);
  });
});
