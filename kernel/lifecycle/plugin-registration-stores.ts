import { callerForgeryLedgers, copyCallerForActingCode, mintSystemCaller } from '../caller.ts';
import { type AnyCapability, capabilities } from '../capabilities/capability.ts';
import { eventsCapability } from '../capabilities/events.ts';
import { type AuditLine, listPluginAuthorities } from '../capabilities/grant.ts';
import { identityCapability } from '../capabilities/identity.ts';
import * as kernelCapabilities from '../capabilities/kernel-capabilities.ts';
import { Ledger } from '../capabilities/ledger.ts';
import { type PackagesApi, type PluginLoaderApi, packagesCapability } from '../capabilities/packages.ts';
import type { SettingsStore } from '../config/settings.ts';
import { type AfterCommitQueue, EventDispatcher } from '../events.ts';
import { FacetStore } from '../facets.ts';
import type { Log } from '../log.ts';
import { ServiceStore } from '../services.ts';
import type { PluginInfo } from './discover.ts';
import { afterCommitQueues, KERNEL_FACETS } from './kernel-facets.ts';

/** Creates the stores of what plugins add. Each entry has its owner, so that unloading a plugin removes exactly its entries. */
export function createPluginStores(settings: SettingsStore, log: Log, loading: PluginLoaderApi) {
  const facets = new FacetStore();
  for (const one of KERNEL_FACETS) facets.define('kernel', one as never);
  const ledger = new Ledger();
  callerForgeryLedgers.add(ledger);
  const events = new EventDispatcher(log);
  events.afterCommitQueues = () => facets.read('kernel', afterCommitQueues as never) as readonly AfterCommitQueue[];
  const services = new ServiceStore();
  const knownCapabilities = (): ReadonlyMap<string, AnyCapability> => facets.read('kernel', capabilities as never);
  const describe = (plugin: PluginInfo) => listPluginAuthorities(plugin, knownCapabilities(), facets);

  const reports: (() => readonly AuditLine[])[] = [];
  const audit = (): readonly AuditLine[] => {
    const plugins = loading.loaded().map((plugin): AuditLine => {
      const { name, version, core } = plugin;
      return { name, version, runtime: core ? 'internal' : 'full', authorities: describe(plugin) };
    });
    return plugins.concat(reports.flatMap((lines) => lines())).sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  const packages: PackagesApi = Object.freeze<PackagesApi>({
    ...loading,
    capabilities: knownCapabilities,
    asSystem(owner, reason) {
      ledger.record('system', owner, reason);
      return mintSystemCaller(owner, reason);
    },
    attribute: copyCallerForActingCode,
    record: (kind, owner, what) => ledger.record(kind, owner, what),
    ledgerEntries: () => ledger.entries(),
    auditLines: audit,
    addAuditLines: (lines) => void reports.push(lines),
    removeListeners: (owner) => events.removeOwner(owner, { core: false }),
    settings: () => settings,
  });
  const own: readonly AnyCapability[] = [
    kernelCapabilities.configCapability(settings, ledger),
    kernelCapabilities.logCapability(log),
    eventsCapability(events, ledger),
    kernelCapabilities.servicesCapability(services, ledger),
    kernelCapabilities.systemCapability(ledger),
    identityCapability(ledger),
    kernelCapabilities.importCapability,
    packagesCapability(packages),
  ];
  for (const one of own) {
    facets.contribute(capabilities.id, one, { name: 'kernel', core: true, declared: { names: [one.name] } });
  }
  const removeOwner = (owner: string): void => {
    for (const store of [facets, events, services, settings]) store.removeOwner(owner);
    facets.flush();
  };
  return { facets, ledger, events, settings, log, knownCapabilities, audit, describe, removeOwner };
}

export type PluginStores = ReturnType<typeof createPluginStores>;
