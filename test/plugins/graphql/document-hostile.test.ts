import { expect } from 'chai';
import { processorTime } from '../../support/processor-time.ts';
import { HOSTILE_DOCUMENTS } from './document-hostile.ts';
import { createDocumentTestSchema, createTestDocumentCache, findDocumentRefusal } from './document-schema.ts';

/** Milliseconds of CPU that one document may take, during which other requests wait. */
const LONGEST = 50;

type Documents = ReturnType<typeof createTestDocumentCache>;

describe('hostile GraphQL documents', () => {
  for (const others of [0, 500]) {
    describe(`in a schema of ${others + 1} collections`, () => {
      const documents = createTestDocumentCache({}, createDocumentTestSchema(others));

      for (const [what, text] of Object.entries(HOSTILE_DOCUMENTS)) {
        it(`${what} (${text.length} characters): does not block the process`, () => {
          // Takes the fastest of several runs, since the measured time includes other threads. One more space avoids the cache.
          const times = [timeOf(documents, text)];
          while (times.length < 20 && Math.min(...times) >= LONGEST)
            times.push(timeOf(documents, text + ' '.repeat(times.length)));
          expect(Math.min(...times)).to.be.below(LONGEST);
        });
      }
    });
  }

  it('the error of a refused document is short', () => {
    const documents = createTestDocumentCache();
    const lengths = Object.entries(HOSTILE_DOCUMENTS).map(([what, text]) => [what, answerTo(documents, text).length]);
    expect(lengths.filter(([, length]) => Number(length) > 20_000)).to.deep.equal([]);
  });
});

function timeOf(documents: Documents, text: string): number {
  const started = processorTime();
  answerTo(documents, text);
  return processorTime() - started;
}

/** Parses and validates a document, and renders the error response of an invalid one. */
function answerTo(documents: Documents, text: string): string {
  const failure = findDocumentRefusal(documents, text);
  return failure ? JSON.stringify([failure.message, failure.extensions]) : '';
}
