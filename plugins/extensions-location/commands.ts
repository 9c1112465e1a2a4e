import type { KernelCommand } from '#kernel';
import type { InterProcessLock } from '../cluster/contract.ts';
import type { ExtensionStatusControl } from '../extensions/contract.ts';
import type { StorageLocation } from '../storage/contract.ts';
import { publishPackage, unpublishPackage } from './publish.ts';
import type { PublishedPackages } from './published-packages.ts';

interface Deps {
  /** The location of EXTENSIONS_LOCATION; undefined where it is unset. */
  readonly location: () => StorageLocation | undefined;
  readonly published: PublishedPackages;
  readonly control: Pick<ExtensionStatusControl, 'reload'>;
  /** One command at a time: an archive that one removes must not be one that another publishes. */
  readonly lock: Pick<InterProcessLock, 'run'>;
}

type Work = (argument: string, location: StorageLocation) => Promise<string>;

/** `extensions:publish`, `extensions:unpublish` and `extensions:published`. */
export function createLocationCommands({ location, published, control, lock }: Deps): readonly KernelCommand[] {
  const command = (name: string, about: string, argument: string | undefined, work: Work): KernelCommand => ({
    name,
    about,
    needs: 'start',
    check(args) {
      if (args.length === (argument === undefined ? 0 : 1)) return undefined;
      return failWith(`usage: ${name}${argument === undefined ? '' : ` ${argument}`}`, 2);
    },
    async run(args) {
      const place = location();
      if (!place)
        return failWith(
          'EXTENSIONS_LOCATION is not set: name the storage location that holds packages for all processes',
          1,
        );
      try {
        process.stdout.write(await lock.run('extensions-location', () => work(args[0] ?? '', place)));
        return 0;
      } catch (error) {
        return failWith((error as Error).message, 1);
      }
    },
  });
  return [
    command(
      'extensions:publish',
      '<folder or .tgz>: puts a package into EXTENSIONS_LOCATION, from which all processes load it',
      '<folder or .tgz>',
      async (path, place) => {
        const { name, version, archive } = await publishPackage(path, { location: place, published, lock });
        await control.reload([name]);
        return `${name} ${version} sha256:${archive}\n`;
      },
    ),
    command(
      'extensions:unpublish',
      '<name>: removes a package from EXTENSIONS_LOCATION, and all processes unload it',
      '<name>',
      async (name, place) => {
        if (!(await unpublishPackage(name, { location: place, published, lock })))
          throw new Error(`no package ${name} is published`);
        await control.reload([name]);
        return '';
      },
    ),
    command('extensions:published', 'lists the packages of EXTENSIONS_LOCATION', undefined, async () =>
      (await published.list()).map(({ name, version, archive }) => `${name} ${version} sha256:${archive}\n`).join(''),
    ),
  ];
}

function failWith(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
