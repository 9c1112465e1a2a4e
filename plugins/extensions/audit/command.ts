import type { AuditLine, KernelCommand, PackagesApi } from '#kernel';
import { auditText, withSentences } from '../../broker/library.ts';

interface Deps {
  readonly packages: Pick<PackagesApi, 'may'>;
  /** Packages in the configured folders, by their manifests. */
  readonly packageLines: () => Promise<readonly AuditLine[]>;
}

/** `audit [--json]`: who may do what, parts of the service first, then the packages that would be loaded. Touches no database. */
export const auditCommand = ({ packages, packageLines }: Deps): KernelCommand => ({
  name: 'audit',
  about: '[--json]: says what every plugin and package adds, needs and may touch',
  async run(args) {
    const own = packages.may();
    const others = await packageLines();
    process.stdout.write(
      args.includes('--json') ? renderJson([...own, ...others]) : `${auditText(own)}${renderPackages(others)}`,
    );
    return 0;
  },
});

const renderJson = (lines: readonly AuditLine[]): string => `${JSON.stringify(withSentences(lines), null, 2)}\n`;

const renderPackages = (lines: readonly AuditLine[]): string =>
  lines.length === 0
    ? ''
    : `\nPackages in EXTENSIONS_PATH and PACKAGE_FILE_LOCATION, by their manifests\n\n${auditText(lines)}`;
