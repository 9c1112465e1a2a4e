import { REALM_OPERATION_CODES } from '../realm-ops.ts';
import {
  type ArtifactExports,
  findArtifactExport,
  renderArtifactExportSummaries,
  requireFunction,
} from './contract.ts';
import { createContextReject, renderGuestFailureMessage } from './failure.ts';
import { removeNonLanguageGlobals } from './globals.ts';
import { createGuestHost, createRealmInvocation, type RealmInvocation, resolveHostCall } from './host-calls.ts';
import { queueOutboxMessage, queueOutboxMessageFirst, takeOldestOutboxMessage } from './outbox.ts';
import {
  apply,
  createNullPrototypeTable,
  deleteProperty,
  isObject,
  type NullPrototypeTable,
  ownProperty,
  parse,
  stringify,
} from './primordials.ts';
import {
  assignEvaluationTimersToInvocation,
  defineTimerGlobals,
  endTimersOf,
  fireTimer,
  setCurrentInvocation,
} from './timers.ts';

/** Characters of the longest result, as JSON. `bundleGuestPreludeSource` passes it in. */
declare const LONGEST_RESULT: number;

const runs: NullPrototypeTable<RealmInvocation> = createNullPrototypeTable();
let contract: ArtifactExports;
let isFirstInvocation = true;

removeNonLanguageGlobals();
defineTimerGlobals();

/**
 * The only entry point. The runner holds it, and guest code never sees it. It takes and returns numbers and strings,
 * except for the artifact itself, and never throws: errors are posted.
 */
export default function enter(op: number, id: number, key: number, text: string, more: unknown): string | undefined {
  setCurrentInvocation(id);
  switch (op) {
    case REALM_OPERATION_CODES.fetch:
      return takeOldestOutboxMessage();
    case REALM_OPERATION_CODES.evaluate:
      evaluate(more, key === 1);
      break;
    case REALM_OPERATION_CODES.invoke:
      invoke(id, text, more as string);
      break;
    case REALM_OPERATION_CODES.reply: {
      const run = runs[id];
      if (run !== undefined) resolveHostCall(run, key, more === 1, text);
      break;
    }
    case REALM_OPERATION_CODES.fire:
      fireTimer(key);
      break;
    case REALM_OPERATION_CODES.end: {
      const run = runs[id];
      if (run !== undefined) end(run);
      break;
    }
  }
  return undefined;
}

/** Runs the artifact's function as a module and keeps its exports. */
function evaluate(artifact: unknown, isReported: boolean): void {
  let description: string | undefined;
  try {
    const module: { exports: unknown } = { exports: {} };
    apply(artifact as () => void, undefined, [module, module.exports]);
    const exported = module.exports as { default?: unknown } | null | undefined;
    const chosen = exported?.default ?? exported;
    if (isObject(chosen) || typeof chosen === 'function') contract = chosen;
    if (isReported) description = renderArtifactExportSummaries(contract);
  } catch {
    contract = undefined;
    description = undefined;
  }
  if (isReported) queueOutboxMessageFirst(description === undefined ? 'broken 0' : `loaded 0\n${description}`);
}

async function invoke(id: number, invocationJson: string, input: string): Promise<void> {
  if (isFirstInvocation) assignEvaluationTimersToInvocation(id);
  isFirstInvocation = false;
  const { entry, context } = parse(invocationJson);
  const run = createRealmInvocation(id, context.activation.type);
  runs[id] = run;
  let answer: string;
  try {
    // The awaited value may be any object of the guest. The engine reads its `then` and exposes nothing of the prelude.
    answer = renderAnswer(run, await handle(run, entry, context, input));
  } catch (error) {
    answer = renderGuestFailureMessage(run, error);
  }
  if (run.isOver) return;
  end(run);
  queueOutboxMessage(answer);
}

/** Calls the handler that the activation names (conventions, "Confined author contract"). */
function handle(
  run: RealmInvocation,
  key: string,
  guestContext: { readonly [name: string]: unknown },
  text: string,
): unknown {
  const entry = findArtifactExport(contract, key);
  if (entry === undefined) throw undefined;
  const input = parse(text);
  if (run.type === 'exec') return apply(requireFunction(entry), undefined, [input]);
  const { extensionId, contributionId, activation, accountability } = guestContext;
  const event = ownProperty(activation as object, 'event') as string;
  const context = {
    extensionId,
    contributionId,
    activation,
    accountability,
    host: createGuestHost(run),
    reject: createContextReject(run),
  };
  switch (run.type) {
    case 'json-endpoint':
    case 'flow-operation':
      return apply(requireFunction(ownProperty(entry, 'handler')), entry, [input, context]);
    case 'event-filter':
      return apply(requireHandler(entry, 'filters', event), entry, [
        ownProperty(input, 'payload'),
        ownProperty(input, 'meta'),
        context,
      ]);
    case 'event-action':
      return apply(requireHandler(entry, 'actions', event), entry, [ownProperty(input, 'meta'), context]);
  }
  throw undefined;
}

function requireHandler(entry: object, kind: 'filters' | 'actions', event: string): (...args: unknown[]) => unknown {
  const handlers = ownProperty(entry, kind);
  return requireFunction(isObject(handlers) ? ownProperty(handlers, event) : undefined);
}

/** Renders the result of a handler as a message. */
function renderAnswer(run: RealmInvocation, value: unknown): string {
  if (run.type === 'event-action') return `result ${run.id}\nnull`;
  if (value === undefined) return run.type === 'event-filter' ? `none ${run.id}` : `result ${run.id}\nnull`;
  let text: string | undefined;
  try {
    text = stringify(value);
  } catch {
    // Not JSON: a cycle, a BigInt, or a `toJSON` that throws.
  }
  if (text === undefined) return `failure ${run.id} invalid-result`;
  if (text.length > LONGEST_RESULT) return `failure ${run.id} result-too-large`;
  return `result ${run.id}\n${text}`;
}

function end(run: RealmInvocation): void {
  run.isOver = true;
  deleteProperty(runs, run.id);
  endTimersOf(run.id);
}
