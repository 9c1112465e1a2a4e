import type { EventNames, ExtensionManifest, ServerType } from '../../extensions/contract.ts';
import { LoadFailure, serverEntries, stripNamePrefix } from '../../extensions/library.ts';
import type { ContractEntry } from '../../sandbox/contract.ts';

/** One thing that runs confined, as its manifest declares it and its code confirms. */
export interface Contribution {
  readonly type: ServerType;
  /** `''`, or `type:name` inside of a bundle: under which the sandbox knows it. */
  readonly key: string;
  /** What it is called by requests, flows and the log. */
  readonly id: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly events: EventNames;
  /** Options that it is handed as references only. */
  readonly secretOptions: readonly string[];
}

/** The ids that a package of its own may call itself by: its name, or that without the prefix, with or without its scope. */
export function listAllowedIds(name: string): readonly string[] {
  const short = stripNamePrefix(name);
  const scope = /^@(?!service\/)[^/]+\//.exec(name)?.[0];
  return [...new Set([name, short, ...(scope === undefined ? [] : [scope + short])])];
}

/**
 * Holds what the code says of itself against the manifest (conventions, "Load gate", 5): INVALID_ENTRY where something is
 * missing, IDENTITY_MISMATCH where it is called otherwise or handles other events than declared.
 */
export function matchContributions(
  name: string,
  manifest: ExtensionManifest,
  contract: readonly ContractEntry[],
): readonly Contribution[] {
  if (manifest.type === 'bundle') {
    // The sandbox would run one of the two; which one was looked at must not be left to chance.
    if (new Set(contract.map(({ key }) => key)).size < contract.length) {
      throw createInvalidEntry('the built entry has an entry twice; export each under a key of its own');
    }
    return serverEntries(manifest).map((entry) => {
      const key = `${entry.type}:${entry.name}`;
      const said = contract.find((one) => one.key === key);
      if (!said) throw createInvalidEntry(`the built entry has no "${key}"; export it under this key`);
      return matchContribution(entry as Declared, said, entry.name, [entry.name]);
    });
  }
  const [said, ...more] = contract;
  if (said?.key !== '' || more.length > 0) {
    throw createInvalidEntry(
      'the built entry exports no single contract; export one object by default, as the kit makes it',
    );
  }
  return [matchContribution(manifest as Declared, said, said.id, listAllowedIds(name))];
}

type Declared = Pick<ExtensionManifest, 'capabilities' | 'events' | 'optionDelivery'> & { readonly type: ServerType };

function matchContribution(
  declared: Declared,
  said: ContractEntry,
  id: string | null,
  ids: readonly string[],
): Contribution {
  const { type, capabilities = {}, events = {}, optionDelivery = {} } = declared;
  const where = said.key === '' ? 'the built entry' : `"${said.key}"`;
  if (type !== 'hook' && !said.handler)
    throw createInvalidEntry(`${where} has no handler function; export { id, handler }`);
  if (id === null) throw createIdentityMismatch(`${where} has no id; call it "${ids[1] ?? ids[0]}"`);
  if (said.id !== null && !ids.includes(said.id))
    throw createIdentityMismatch(`${where} calls itself ${quoteName(said.id)}; its id must be "${ids.join('" or "')}"`);
  if (type === 'hook') {
    assertSameEvents(where, 'filter', said.filters, events.filter);
    assertSameEvents(where, 'action', said.actions, events.action);
  }
  return { type, key: said.key, id, capabilities, events, secretOptions: Object.keys(optionDelivery) };
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

/** What the code says of itself, where it is a name that may stand in a sentence of the service. */
const quoteName = (name: string): string => (/^[\w.:-]{1,80}$/.test(name) ? `"${name}"` : 'otherwise');

const createInvalidEntry = (what: string) => new LoadFailure('INVALID_ENTRY', `${capitalize(what)}.`);
const createIdentityMismatch = (what: string) => new LoadFailure('IDENTITY_MISMATCH', `${capitalize(what)}.`);
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
