import type { AuditLine, KernelCommand, PackagesApi } from '#kernel';
import { renderAudit, withAuditSentences } from '../../broker/library.ts';

interface Deps {
  readonly packages: Pick<PackagesApi, 'auditLines'>;
  /** Audit lines of the packages in the configured folders, read from their manifests. */
  readonly packageLines: () => Promise<readonly AuditLine[]>;
}

/**
 * `audit [--json]`: who may do what, core plugins first, then the packages that would be loaded. It uses no database.
 */
export const auditCommand = ({ packages, packageLines }: Deps): KernelCommand => ({
  name: 'audit',
  about: '[--json]: says what every plugin and package adds, needs and may touch',
  async run(args) {
    const coreLines = packages.auditLines();
    const packageAuditLines = await packageLines();
    process.stdout.write(
      args.includes('--json')
        ? renderJson([...coreLines, ...packageAuditLines])
        : `${renderAudit(coreLines)}${renderPackages(packageAuditLines)}`,
    );
    return 0;
  },
});

const renderJson = (lines: readonly AuditLine[]): string => `${JSON.stringify(withAuditSentences(lines), null, 2)}\n`;

const renderPackages = (lines: readonly AuditLine[]): string =>
  lines.length === 0
    ? ''
    : `\nPackages in EXTENSIONS_PATH and PACKAGE_FILE_LOCATION, by their manifests\n\n${renderAudit(lines)}`;
