import { AsyncLocalStorage } from 'node:async_hooks';
import { type Log, requestScope } from '#kernel';
import type { ConfinedCodeInvocation, PackageHandle } from '../broker/contract.ts';
import { BrokerRefusal } from '../broker/library.ts';

/** Runs host calls of one invocation with the grants of its package, in the context of its request. */
export interface HostCallRunner {
  /** Calls a method of the broker. Rejects with a BrokerRefusal; other errors are logged and become one. */
  run(method: string, args: unknown, signal: AbortSignal): Promise<unknown>;
  /** Serializes an answer of at most `longest` bytes. Throws a BrokerRefusal for a longer one. */
  toJson(value: unknown, longest: number): string;
  warn(text: string): void;
}

/** Creates the context of the host calls of one invocation, and captures the asynchronous context in which it is called. */
export function createHostCallRunner(
  brokerAccess: PackageHandle,
  invocation: ConfinedCodeInvocation,
  log: Log,
): HostCallRunner {
  const inContext = AsyncLocalStorage.snapshot();
  const owner = brokerAccess.holder.name;

  /** Without a request, log lines and written rows carry the id of the invocation. */
  const inScope = <T>(work: () => T): T =>
    inContext(() => {
      const { id } = invocation;
      const scope = requestScope.getStore();
      return scope?.invocation === undefined
        ? requestScope.run({ id: scope?.id ?? id, invocation: id, trace: scope?.trace }, work)
        : work();
    });

  return {
    async run(method, args, signal) {
      try {
        const { id, caller, secrets } = invocation;
        return await inScope(() => brokerAccess.call(method, args, { id, caller, secrets, signal }));
      } catch (error) {
        const isRefusal = error instanceof BrokerRefusal;
        const cause = isRefusal ? error.cause : error;
        if (cause !== undefined && !signal.aborted)
          inScope(() => log.error({ err: cause, owner, invocation: invocation.id, method }, 'a host call failed'));
        throw isRefusal ? error : new BrokerRefusal('internal', 'The call failed.');
      }
    },
    toJson(value, longest) {
      let json: string;
      try {
        json = JSON.stringify(value) ?? 'null';
      } catch (error) {
        log.error({ err: error, owner, invocation: invocation.id }, 'a host call returned a value that is not JSON');
        throw new BrokerRefusal('internal', 'The call failed.');
      }
      if (Buffer.byteLength(json) > longest) throw new BrokerRefusal('invalid_request', 'The answer is too large.');
      return json;
    },
    warn(text) {
      inScope(() => log.warn({ owner, invocation: invocation.id }, text));
    },
  };
}
