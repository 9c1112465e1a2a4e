import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from '../support/sources.ts';
import { until } from '../support/until.ts';

/** Entries of the repository that are not linked into the folder of a guide, which is like a fresh clone. */
const NOT_LINKED = ['data', '.env', '.git', 'extensions'];

/** A folder in which the commands of a document are run, and the services that they start. */
export class GuideProject {
  readonly folder: string;
  readonly #services = new Map<string, ChildProcess>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'tenon-guide-'));
    // The embedded PostgreSQL does not run as root, and its user has to enter the folder.
    chmodSync(this.folder, 0o755);
    for (const name of readdirSync(projectRoot)) {
      if (!NOT_LINKED.includes(name)) symlinkSync(join(projectRoot, name), join(this.folder, name));
    }
    mkdirSync(join(this.folder, 'extensions/local'), { recursive: true });
    for (const name of ['sdk', 'examples'])
      symlinkSync(join(projectRoot, 'extensions', name), join(this.folder, 'extensions', name));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs `npm start` and waits until the service listens. A service on the same port is stopped before. */
  async start(environment: NodeJS.ProcessEnv): Promise<void> {
    const port = environment.PORT ?? '';
    await this.stop(port);
    rmSync(this.#log(port), { force: true });
    const service = spawn('npm', ['start'], {
      cwd: this.folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#services.set(port, service);
    const log = createWriteStream(this.#log(port), { flags: 'w' });
    service.stdout?.pipe(log, { end: false });
    service.stderr?.pipe(log, { end: false });
    await until(() => {
      const text = this.#read(port);
      if (service.exitCode !== null) throw new Error(`npm start ended with ${service.exitCode}:\n${text}`);
      return text.includes('Tenon listens on');
    }, 120_000);
  }

  /** The admin's password that the first start of a service printed; undefined where none was printed. */
  password(): string | undefined {
    for (const port of this.#services.keys()) {
      const found = /^ {2}password {2}(\S+)/m.exec(this.#read(port))?.[1];
      if (found !== undefined) this.#password = found;
    }
    return this.#password;
  }
  #password: string | undefined;

  async stop(port?: string): Promise<void> {
    this.password();
    const chosen = [...this.#services].filter(([of]) => port === undefined || of === port);
    await Promise.all(
      chosen.map(async ([of, service]) => {
        this.#services.delete(of);
        if (service.exitCode !== null || service.signalCode !== null) return;
        process.kill(-(service.pid as number), 'SIGTERM');
        await once(service, 'exit');
      }),
    );
    // npm may end before the service, and the service stops the embedded database last.
    if (this.#services.size === 0)
      await until(() => !existsSync(join(this.folder, 'data/postgres/postmaster.pid')), 60_000);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  readonly #log = (port: string): string => join(this.folder, `service-${port}.log`);

  #read(port: string): string {
    try {
      return readFileSync(this.#log(port), 'utf8');
    } catch {
      return '';
    }
  }
}
