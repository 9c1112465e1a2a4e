import type { ExtensionManifest, ListenableEvents, ServerExtensionType } from '../../extensions/contract.ts';
import { LoadFailure, listServerBundleEntries, stripExtensionNamePrefix } from '../../extensions/library.ts';
import type { JsonSchema } from '../../http/contract.ts';
import type { ArtifactExport } from '../../sandbox/contract.ts';

/** A hook, endpoint or operation that runs confined, as its manifest declares it and its code exports it. */
export interface ConfinedContribution {
  readonly type: ServerExtensionType;
  /** The key in the sandbox: `''`, or `type:name` inside of a bundle. */
  readonly key: string;
  /** The id in requests, flows and the log. */
  readonly id: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly events: ListenableEvents;
  /** Options whose values the code receives as secret references only. */
  readonly secretOptions: readonly string[];
  /** Schemas of what an endpoint receives and answers. */
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
}

/**
 * The ids that a package with one contribution may export: its name, or the name without prefix, with or without scope.
 */
export function listAllowedContributionIds(name: string): readonly string[] {
  const short = stripExtensionNamePrefix(name);
  const scope = /^@(?!service\/)[^/]+\//.exec(name)?.[0];
  return [...new Set([name, short, ...(scope === undefined ? [] : [scope + short])])];
}

/**
 * Compares the contract that the code exports with the manifest (conventions, "Load gate", 5).
 * @throws LoadFailure INVALID_ENTRY if an export is missing, IDENTITY_MISMATCH if an id or the events differ.
 */
export function matchContributions(
  name: string,
  manifest: ExtensionManifest,
  contract: readonly ArtifactExport[],
): readonly ConfinedContribution[] {
  if (manifest.type === 'bundle') {
    // With two entries under one key, the sandbox might run another one than the gate checked.
    if (new Set(contract.map(({ key }) => key)).size < contract.length) {
      throw createInvalidEntry('the built entry has an entry twice; export each under a key of its own');
    }
    return listServerBundleEntries(manifest).map((entry) => {
      const key = `${entry.type}:${entry.name}`;
      const exportedEntry = contract.find((one) => one.key === key);
      if (!exportedEntry) throw createInvalidEntry(`the built entry has no "${key}"; export it under this key`);
      return matchContribution(entry as Declared, exportedEntry, entry.name, [entry.name]);
    });
  }
  const [exportedEntry, ...more] = contract;
  if (exportedEntry?.key !== '' || more.length > 0) {
    throw createInvalidEntry(
      'the built entry exports no single contract; export one object by default, as the kit makes it',
    );
  }
  return [matchContribution(manifest as Declared, exportedEntry, exportedEntry.id, listAllowedContributionIds(name))];
}

type Declared = Pick<ExtensionManifest, 'capabilities' | 'events' | 'optionDelivery' | 'input' | 'output'> & {
  readonly type: ServerExtensionType;
};

function matchContribution(
  declared: Declared,
  exportedEntry: ArtifactExport,
  id: string | null,
  ids: readonly string[],
): ConfinedContribution {
  const { type, capabilities = {}, events = {}, optionDelivery = {}, input, output } = declared;
  const where = exportedEntry.key === '' ? 'the built entry' : `"${exportedEntry.key}"`;
  if (type !== 'hook' && !exportedEntry.handler)
    throw createInvalidEntry(`${where} has no handler function; export { id, handler }`);
  if (id === null) throw createIdentityMismatch(`${where} has no id; call it "${ids[1] ?? ids[0]}"`);
  if (exportedEntry.id !== null && !ids.includes(exportedEntry.id))
    throw createIdentityMismatch(
      `${where} calls itself ${quoteName(exportedEntry.id)}; its id must be "${ids.join('" or "')}"`,
    );
  if (type === 'hook') {
    assertSameEvents(where, 'filter', exportedEntry.filters, events.filter);
    assertSameEvents(where, 'action', exportedEntry.actions, events.action);
  }
  const secretOptions = Object.keys(optionDelivery);
  const schemas = { ...(input ? { input } : {}), ...(output ? { output } : {}) };
  return { type, key: exportedEntry.key, id, capabilities, events, secretOptions, ...schemas };
}

function assertSameEvents(
  where: string,
  kind: string,
  handled: readonly string[],
  declared: readonly string[] = [],
): void {
  const other = declared.find((event) => !handled.includes(event));
  if (other !== undefined) throw createIdentityMismatch(`${where} has no ${kind} for the declared event "${other}"`);
  const more = handled.find((event) => !declared.includes(event));
  if (more !== undefined)
    throw createIdentityMismatch(`${where} has a ${kind} for ${quoteName(more)}, an event that is not declared`);
}

/** Quotes a name from third-party code if it is safe to show; the word "otherwise" stands for any other name. */
const quoteName = (name: string): string => (/^[\w.:-]{1,80}$/.test(name) ? `"${name}"` : 'otherwise');

const createInvalidEntry = (what: string) => new LoadFailure('INVALID_ENTRY', `${capitalize(what)}.`);
const createIdentityMismatch = (what: string) => new LoadFailure('IDENTITY_MISMATCH', `${capitalize(what)}.`);
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
