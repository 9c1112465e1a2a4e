import { expect } from 'chai';
import { createDocumentCaches } from '../../../plugins/graphql/document/document-cache.ts';
import { DocumentFailure } from '../../../plugins/graphql/document/failure.ts';
import { processorTime } from '../../support/processor-time.ts';
import { HOSTILE_DOCUMENTS } from './document-hostile.ts';
import { createTestSchema, DEFAULT_LIMITS } from './document-schema.ts';

/** Milliseconds of CPU time, during which other requests wait. */
const LONGEST = 50;

describe('hostile GraphQL documents', () => {
  for (const others of [0, 500]) {
    describe(`in a schema of ${others + 1} collections`, () => {
      const documents = createDocumentCaches(DEFAULT_LIMITS)(createTestSchema(others));

      for (const [what, text] of Object.entries(HOSTILE_DOCUMENTS)) {
        it(`${what} (${text.length} characters): does not block the process`, () => {
          // The fastest of several runs, since other threads count as well; one more space makes it a new document.
          const times = [timeOf(() => documents.get(text))];
          while (times.length < 20 && Math.min(...times) >= LONGEST)
            times.push(timeOf(() => documents.get(text + ' '.repeat(times.length))));
          expect(Math.min(...times)).to.be.below(LONGEST);
        });
      }
    });
  }

  it('the error of a refused document is short', () => {
    const documents = createDocumentCaches(DEFAULT_LIMITS)(createTestSchema());
    const lengths = Object.entries(HOSTILE_DOCUMENTS).map(([what, text]) => [
      what,
      answerTo(() => documents.get(text)).length,
    ]);
    expect(lengths.filter(([, length]) => Number(length) > 20_000)).to.deep.equal([]);
  });
});

function timeOf(work: () => unknown): number {
  const started = processorTime();
  answerTo(work);
  return processorTime() - started;
}

/** The time includes rendering the error response. */
function answerTo(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    if (error instanceof DocumentFailure) return JSON.stringify([error.message, error.extensions]);
    throw error;
  }
}
