import type { LedgerEntry } from '#kernel';
import type { MetricSample, MetricSource } from '../metrics/contract.ts';
import type { ExtensionRow } from './records/info-record.ts';

const LEDGER_METRICS = {
  denied: 'extensions_denials_total',
  system: 'extensions_system_uses_total',
  remote: 'extensions_host_calls_total',
} as const;

/** Third-party packages by status, and what the ledger counts of plugins and packages. */
export const createExtensionMetricSource = (
  rows: () => readonly ExtensionRow[],
  ledgerEntries: () => readonly LedgerEntry[],
): MetricSource => ({
  service: 'extensions',
  metrics: {
    extensions_packages: { kind: 'gauge', help: 'Third-party packages by status.' },
    extensions_denials_total: { kind: 'counter', help: 'Uses of a capability that were denied, by plugin or package.' },
    extensions_system_uses_total: { kind: 'counter', help: 'Times that a plugin acted without a user.' },
    extensions_host_calls_total: { kind: 'counter', help: 'Calls of the service by confined code, by package.' },
  },
  collect() {
    const byStatus = new Map<string, number>();
    for (const { status } of rows()) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const entries = ledgerEntries();
    const ledger = Object.entries(LEDGER_METRICS).map(([kind, metric]) => [metric, countByOwner(entries, kind)]);
    return {
      extensions_packages: [...byStatus].map(([status, value]) => ({ labels: { status }, value })),
      ...(Object.fromEntries(ledger) as Record<string, readonly MetricSample[]>),
    };
  },
});

function countByOwner(entries: readonly LedgerEntry[], kind: string): readonly MetricSample[] {
  const counts = new Map<string, number>();
  for (const entry of entries)
    if (entry.kind === kind) counts.set(entry.plugin, (counts.get(entry.plugin) ?? 0) + entry.count);
  return [...counts].map(([owner, value]) => ({ labels: { owner }, value }));
}
