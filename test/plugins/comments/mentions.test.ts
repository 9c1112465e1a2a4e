import { expect } from 'chai';
import { Failure } from '#kernel';
import { parseMentions } from '../../../plugins/comments/mentions.ts';
import { processorTime } from '../../support/processor-time.ts';

const ANN = '3f0c1b52-8a5e-4b0c-9d57-0a5f6f1f2a01';
const BOB = '3f0c1b52-8a5e-4b0c-9d57-0a5f6f1f2a02';

describe('parseMentions', () => {
  it('answers the ids after an @, each once, in the order of the text', () => {
    expect(parseMentions(`@${BOB}: see (@${ANN}), @${BOB}.\nAnd @${ANN.toUpperCase()}`)).to.deep.equal([BOB, ANN]);
    expect(parseMentions(`x@${ANN}@${BOB}`)).to.deep.equal([ANN, BOB]);
  });

  it('recognises @ with the key of a user, and nothing else', () => {
    for (const text of ['', '@', 'ann@example.com', ANN, `@ ${ANN}`, `@${ANN}f`, `@${ANN}-1`, `@${ANN.slice(0, -1)}`]) {
      expect(parseMentions(text), text).to.deep.equal([]);
    }
  });

  it('parses a long adversarial text in linear time', () => {
    const started = processorTime();
    expect(parseMentions(`@${ANN.slice(0, -1)}`.repeat(30_000))).to.deep.equal([]);
    expect(processorTime() - started).to.be.below(1000);
  });

  it('rejects more than a hundred mentions', () => {
    const text = (count: number) =>
      Array.from({ length: count }, (_one, at) => `@${ANN.slice(0, -3)}${String(at).padStart(3, '0')}`).join(' ');
    expect(parseMentions(text(100))).to.have.length(100);
    expect(() => parseMentions(text(101))).to.throw(Failure, 'at most 100');
  });
});
