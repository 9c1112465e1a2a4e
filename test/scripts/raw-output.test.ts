import { expect } from 'chai';
import { type ConfinedPackageFolder, createConfinedPackageFolder } from '../http/confined-packages.ts';
import { freshDatabase } from '../support/database.ts';
import { runCli, type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';

const CODE = `
  export default (router) => {
    console.log('first line\\nsecond line', { of: 'console' });
    console.error('an error of %s', 'console');
    process.stdout.write('without an end');
    process.stderr.write(Buffer.from('from a buffer\\n'));
    process.emitWarning('this will be removed', 'DeprecationWarning', 'DEP_TEST');
    new Buffer(1);
    router.get('/say', (req, res) => { console.log('said by a handler'); res.json({}); });
    router.get('/reject', (req, res) => { Promise.reject(new Error('not awaited')); res.json({}); });
    router.get('/throw', (req, res) => { setTimeout(() => { throw new Error('out of\\nnowhere'); }, 1); res.json({}); });
  };`;

type Line = Readonly<Record<string, unknown>>;

/** The parsed lines of an output. A line that is no JSON object fails the test, with its text. */
const parseLines = (output: string): readonly Line[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      try {
        return JSON.parse(line) as Line;
      } catch {
        throw new Error(`no JSON: ${line}`);
      }
    });

describe('the output of a service with LOG_STYLE=raw', () => {
  let packages: ConfinedPackageFolder;
  let service: SpawnedService;
  before(async () => {
    packages = await createConfinedPackageFolder();
    await packages.put('service-extension-loud', { type: 'endpoint', runtime: undefined }, CODE);
    service = await spawnService({
      // `up` creates the first admin, whose password is printed.
      args: ['up'],
      database: await freshDatabase('raw'),
      env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'info', ADMIN_PASSWORD: '' },
    }).catch(async (error) => {
      await packages.remove();
      throw error;
    });
  });
  after(async () => {
    await service?.stop();
    await service?.database.drop();
    await packages?.remove();
  });

  it('is one JSON object in each line, also for what packages and Node print', async () => {
    await until(async () => service.output().includes('DEP_TEST'));
    await service.request('GET', '/nothing');
    await service.request('GET', '/loud/say');
    await service.request('GET', '/loud/reject');
    await until(async () => service.output().includes('not awaited'));
    const lines = parseLines(service.output());
    const lineWith = (text: string) => lines.find(({ msg }) => String(msg).includes(text));
    expect(lineWith('said by a handler')).to.include({ owner: 'service-extension-loud', stream: 'stdout' });
    expect(lineWith('first line')).to.include({
      stream: 'stdout',
      msg: "first line\nsecond line { of: 'console' }",
    });
    expect(lineWith('an error of console')).to.include({ stream: 'stderr', level: 40 });
    for (const text of ['without an end', 'from a buffer', 'password is shown once', 'Tenon listens on'])
      expect(lineWith(text), text).to.include.keys('time', 'level', 'owner');
    expect(lineWith('this will be removed')).to.include({ warning: 'DeprecationWarning', code: 'DEP_TEST' });
    expect(lines.find(({ code }) => code === 'DEP0005')).to.include({ level: 40 });
  });

  it('has of each request the user, address, route, status, duration and who answers', () => {
    const lines = parseLines(service.output()).filter(({ msg }) => msg === 'request');
    expect(lines.find(({ path }) => path === '/nothing')).to.include({ status: 404, ip: '127.0.0.1', user: null });
    expect(lines.find(({ path }) => path === '/loud/reject')).to.include({
      route: '/loud/*',
      routeOwner: 'service-extension-loud',
      status: 200,
    });
    for (const line of lines) expect(line.ms).to.be.a('number');
  });

  it('an uncaught exception ends the process with lines of JSON that name the package', async () => {
    await service.request('GET', '/loud/throw');
    expect(await service.kill('SIGCONT')).to.equal(1);
    const lines = parseLines(service.output());
    expect(lines.find(({ level }) => level === 60)?.err).to.include({ message: 'out of\nnowhere' });
    expect(lines.some(({ msg }) => String(msg).startsWith('service-extension-loud threw'))).to.equal(true);
  });
});

describe('a failing start with LOG_STYLE=raw', () => {
  const failures = {
    'a wrong setting': [{ PORT: 'abc' }, 'config', 'PORT must be a whole number'],
    'a settings file that does not exist': [{ CONFIG_PATH: '/nowhere' }, 'config', 'there is no file at CONFIG_PATH'],
    'a database that is away': [{ DB_CONNECTION_STRING: 'postgres://127.0.0.1:1/x' }, 'migrate', 'nothing answers at'],
  } as const;
  for (const [name, [env, phase, reason]] of Object.entries(failures))
    it(`${name} is one line of JSON with plugin, phase, reason and remedy`, async () => {
      const { ended, output } = runCli(['start'], {
        CONFIG_PATH: '/dev/null',
        LOG_STYLE: 'raw',
        LOG_LEVEL: 'silent',
        ...env,
      });
      expect(await ended).to.equal(1);
      const lines = parseLines(output());
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ level: 60, phase });
      expect(lines[0]?.reason).to.match(new RegExp(`^${reason}`));
      expect(lines[0]).to.include.keys('owner', 'remedy', 'time');
    });

  it('a wrong option of the command line is lines of JSON', async () => {
    const { ended, output } = runCli(['start', '--wrong'], { CONFIG_PATH: '/dev/null', LOG_STYLE: 'raw' });
    expect(await ended).to.equal(1);
    expect(parseLines(output()).map(({ msg }) => msg)).to.include("error: unknown option '--wrong'");
  });
});
