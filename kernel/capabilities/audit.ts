import type { Facet } from '../facets.ts';
import type { PluginPackage } from '../manifest/validate.ts';
import type { AnyCapability, Subject } from './capability.ts';
import { grantsOf } from './grant.ts';

export interface AuditLine {
  readonly name: string;
  readonly version: string;
  readonly runtime: Subject['runtime'];
  readonly sentences: readonly string[];
}

interface Audited {
  readonly plugin: PluginPackage;
  readonly runtime: Subject['runtime'];
}

/** Who may do what: one entry a plugin, sorted by name, sentences in a fixed order, so releases diff cleanly. */
export function auditReport(
  plugins: readonly Audited[],
  capabilities: ReadonlyMap<string, AnyCapability>,
  facetOf: (id: string) => Facet<never, unknown> | undefined,
): readonly AuditLine[] {
  return plugins
    .map(({ plugin, runtime }) => {
      const contributions = Object.entries(plugin.manifest.contributes ?? {})
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([id, section]) => facetOf(id)?.describe?.(section) ?? [`adds to ${id}`]);
      const facets = plugin.manifest.facets?.length ? [`opens ${[...plugin.manifest.facets].sort().join(', ')}`] : [];
      const grants = [...grantsOf(plugin)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, grant]) => capabilities.get(name)?.describe(grant) ?? [`asks for the unknown ${name}`]);
      return {
        name: plugin.name,
        version: plugin.version,
        runtime,
        sentences: [...contributions, ...facets, ...grants],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The report as text: a name and runtime column, one sentence a line. */
export function auditText(lines: readonly AuditLine[]): string {
  const width = Math.max(...lines.map((line) => line.name.length), 0) + 2;
  return lines
    .map((line) => {
      const runtime = line.runtime === 'full' ? 'FULL' : line.runtime;
      const indent = ' '.repeat(width + 10);
      return `${line.name.padEnd(width)}${runtime.padEnd(10)}${line.sentences.join(`\n${indent}`)}\n`;
    })
    .join('');
}
