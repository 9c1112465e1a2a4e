import { type Buffers, type Part, partInMemory, partOnDisk } from './part.ts';
import { type PartPlan, stepOf } from './part-plan.ts';

/** A part that is complete. Whoever gets it discards it. */
export interface WholePart {
  readonly number: number;
  readonly part: Part;
  /** Whether it is the whole object, because that is smaller than one part. */
  readonly isAll: boolean;
}

/** What `source` yields, in parts of the planned sizes; at least one, which may be empty. */
export async function* inParts(source: AsyncIterable<Uint8Array>, plan: PartPlan): AsyncGenerator<WholePart> {
  const spare: Buffers = [];
  const begin = (number: number) => {
    const { size, kept } = stepOf(plan, number);
    return kept === 'memory' ? partInMemory(size, spare) : partOnDisk();
  };
  let number = 1;
  let part: Part | undefined;
  try {
    for await (const chunk of source) {
      for (let rest = chunk; rest.length > 0; ) {
        part ??= await begin(number);
        const taken = rest.subarray(0, stepOf(plan, number).size - part.size());
        await part.add(taken);
        rest = rest.subarray(taken.length);
        if (part.size() < stepOf(plan, number).size) continue;
        const whole = { number: number++, part, isAll: false };
        // From here on it is discarded by whoever takes it.
        part = undefined;
        yield whole;
      }
    }
    if (!part && number > 1) return;
    const last = { number, part: part ?? (await begin(number)), isAll: number === 1 };
    part = undefined;
    yield last;
  } finally {
    await part?.discard();
  }
}
