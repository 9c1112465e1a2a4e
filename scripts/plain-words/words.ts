/** A word that readers from the field would stumble over. */
export interface RefusedWord {
  /** Matches whole words, in lower case. In names it sees one part of an identifier at a time: `askedRange` is `asked`, `range`. */
  readonly pattern: RegExp;
  /** What to write, for the message. */
  readonly instead: string;
}

const word = (pattern: string, instead: string): RefusedWord => ({ pattern: new RegExp(`^(?:${pattern})$`), instead });
const phrase = (pattern: string, instead: string): RefusedWord => ({
  pattern: new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, 'gi'),
  instead,
});

/** Refused as a part of any name of a variable, type, member, parameter or file. */
export const REFUSED_NAME_PARTS: readonly RefusedWord[] = [
  word('told|untold', 'the noun of what is known, or a predicate such as hasReadListeners'),
  word('asked', 'requested, or the noun: range, request'),
  word('said', 'reply, message'),
  word('heard', 'listener, hasListeners'),
  word('wanted', 'requested, expected'),
  word('given', 'parameter, value, input'),
  word('elsewhere', 'remote'),
  word('patience', 'deadline, timeout'),
  word('silence', 'idle timeout, delay'),
  word('rehearse|rehearsed|rehearsal', 'precheck, dry run'),
  word('strangers?', 'third party, extension'),
  word('loose', 'orphaned'),
  word('wishes', 'options, selection'),
  word('breach|breaches', 'validation error'),
  word('complaints?', 'validation error, problem'),
  word('admit|admits|admitted|admission', 'assert, validate, allow'),
  word('surroundings', 'environment'),
  word('baits?', 'canary'),
  word('attacks?|attacked', 'probe'),
  word('talk|talks', 'probe client, exchange'),
  word('deferrals?', 'after-commit queue'),
  word('whoever|nobody|somebody|anybody', 'the actor: caller, admin, process'),
  word('doubles', 'duplicates'),
  word('standing', 'status'),
  word('quiet|quietly', 'withoutListeners, withoutLog'),
];

/** Refused where they are the whole name. */
export const REFUSED_WHOLE_NAMES: readonly RefusedWord[] = [
  word('made', 'the noun of the result'),
  word('within', 'the noun: scope, range, isInside…'),
  word('beyond', 'exceeds…, remaining'),
  word('overview', 'schema, schemaSnapshot'),
];

/** Refused in comments, titles, messages and documents. */
export const REFUSED_PHRASES: readonly RefusedWord[] = [
  phrase('whoever|whomever|whosoever', 'the actor: caller, admin, process'),
  phrase('nobody|somebody|anybody', 'the actor: no caller, an admin, another process'),
  phrase('those who', 'the actor: users that, callers that'),
  phrase('(?:packages?|plugins?|code|names?|rows?|files?) of others', 'third-party packages, another user’s rows'),
  phrase("somebody else’s|somebody else's|product's own", 'third-party, core'),
  phrase('strangers?', 'third party, extension'),
  phrase('lets? go of|letting go|let go', 'orphan, release, drop'),
  phrase('loose', 'orphaned'),
  phrase('patience', 'deadline, timeout'),
  phrase('rehears\\w+', 'precheck, dry run'),
  phrase('told', 'the verb of what happens: notified, distinguished, reported'),
  phrase('heard', 'received, listened to'),
  phrase('becom(?:es?|ing) of|became of', 'outcome, state'),
  phrase('spelled out', 'expanded'),
  phrase('rest form', 'REST representation'),
  phrase('breach|breaches', 'validation error'),
  phrase('complaints?|complains?', 'validation error, problem'),
  phrase('admits?|admitted|admission', 'assert, validate, allow'),
  phrase('the circle', 'dependency cycle'),
  phrase('surroundings', 'environment'),
  phrase('ways? in', 'entry point'),
  phrase('bait', 'canary'),
  phrase('overviews?', 'schema snapshot'),
];
