import type { facet, Host } from '#kernel';
import type { ObservedOperation, OperationObserver } from './contract.ts';

/** One observer that runs operations through all of these, the first one outermost; undefined for none. */
export function combineObservers(all: readonly { readonly value: OperationObserver }[]): OperationObserver | undefined {
  if (all.length < 2) return all[0]?.value;
  return {
    run: <T>(operation: ObservedOperation, work: () => Promise<T>): Promise<T> =>
      all.reduceRight(
        (inner, { value }) =>
          () =>
            value.run(operation, inner),
        work,
      )(),
  };
}

/** The observer of a facet, as it is now: undefined before the start, and where metrics and traces are off. */
export interface CurrentObserver {
  readonly current: OperationObserver | undefined;
}

type ObserverFacet = ReturnType<typeof facet<OperationObserver, OperationObserver | undefined>>;

/** Defines a facet of observers, and keeps its observer at hand from the start on. For the plugin whose operations are observed. */
export function followObserver(
  host: Pick<Host, 'define' | 'onStart' | 'read' | 'watch'>,
  target: ObserverFacet,
): CurrentObserver {
  const observer: { current: OperationObserver | undefined } = { current: undefined };
  const update = () => {
    observer.current = host.read(target);
  };
  host.define(target);
  host.onStart(() => {
    update();
    host.watch(target, update);
  });
  return observer;
}

/** Passes a stream of parts through an observer; the operation lasts until the last part is read. */
export async function* observeStream<T>(
  observer: OperationObserver,
  operation: ObservedOperation,
  parts: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const observed = observer.run(operation, () => promise);
  // The reader gets the error of the stream itself.
  observed.catch(() => {});
  try {
    yield* parts;
  } catch (error) {
    reject(error);
    throw error;
  } finally {
    resolve();
  }
}
