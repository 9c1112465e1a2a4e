import type { AnsweringRoute, RequestEnd, RequestObservation, RequestObserver } from './contract.ts';

/** One observer that begins an observation by each of these, the first one outermost; undefined for none. */
export function combineRequestObservers(
  all: readonly { readonly value: RequestObserver }[],
): RequestObserver | undefined {
  if (all.length < 2) return all[0]?.value;
  return {
    begin: (ctx) => new CombinedObservation(all.map(({ value }) => value.begin(ctx))),
  };
}

class CombinedObservation implements RequestObservation {
  readonly #all: readonly RequestObservation[];

  constructor(all: readonly RequestObservation[]) {
    this.#all = all;
  }

  get trace(): string | undefined {
    return this.#all.find(({ trace }) => trace !== undefined)?.trace;
  }

  run(layers: () => Promise<void>): Promise<void> {
    return this.#all.reduceRight((inner, one) => (one.run ? () => one.run?.(inner) as Promise<void> : inner), layers)();
  }

  runRoute(route: AnsweringRoute, handle: () => Promise<void>): Promise<void> {
    return this.#all.reduceRight(
      (inner, one) => (one.runRoute ? () => one.runRoute?.(route, inner) as Promise<void> : inner),
      handle,
    )();
  }

  end(end: RequestEnd): void {
    for (const one of this.#all) one.end(end);
  }
}
