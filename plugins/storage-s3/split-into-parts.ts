import { createFileUploadPart, createMemoryUploadPart, type SpareBuffers, type UploadPart } from './part.ts';
import { findUploadPartSizeRange, type UploadPartSizePlan } from './part-plan.ts';

/** A complete part. Its consumer must discard it. */
export interface NumberedUploadPart {
  readonly number: number;
  readonly part: UploadPart;
  /** True if the part is the whole object. */
  readonly isAll: boolean;
}

/** Splits `source` into parts of the planned sizes; at least one, which may be empty. */
export async function* splitIntoParts(
  source: AsyncIterable<Uint8Array>,
  plan: UploadPartSizePlan,
): AsyncGenerator<NumberedUploadPart> {
  const spare: SpareBuffers = [];
  const begin = (number: number) => {
    const { size, kept } = findUploadPartSizeRange(plan, number);
    return kept === 'memory' ? createMemoryUploadPart(size, spare) : createFileUploadPart();
  };
  let number = 1;
  let part: UploadPart | undefined;
  try {
    for await (const chunk of source) {
      for (let rest = chunk; rest.length > 0; ) {
        part ??= await begin(number);
        const taken = rest.subarray(0, findUploadPartSizeRange(plan, number).size - part.size());
        await part.add(taken);
        rest = rest.subarray(taken.length);
        if (part.size() < findUploadPartSizeRange(plan, number).size) continue;
        const whole = { number: number++, part, isAll: false };
        // From here on the consumer discards the part.
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
