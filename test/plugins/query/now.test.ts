import { expect } from 'chai';
import { parseNowExpression, timestampOfNowOffset } from '../../../plugins/query/library.ts';

const now = new Date('2026-03-31T12:00:00.000Z');
const cases: Readonly<Record<string, string | undefined>> = {
  $NOW: '2026-03-31T12:00:00.000Z',
  '$NOW()': '2026-03-31T12:00:00.000Z',
  '$NOW(-7 days)': '2026-03-24T12:00:00.000Z',
  '$NOW(+1 day)': '2026-04-01T12:00:00.000Z',
  '$NOW(2)': '2026-04-02T12:00:00.000Z',
  '$NOW(-1 month)': '2026-02-28T12:00:00.000Z',
  '$NOW(1 year)': '2027-03-31T12:00:00.000Z',
  '$NOW(90 min)': '2026-03-31T13:30:00.000Z',
  '$NOW(-999999999999 years)': '2026-03-31T12:00:00.000Z',
  '$NOW(3 constructor)': '2026-03-31T12:00:00.000Z',
  $NOWHERE: undefined,
  today: undefined,
};

describe('parseNowExpression and timestampAt', () => {
  for (const [text, expected] of Object.entries(cases)) {
    it(`${text} is ${expected ?? 'no dynamic value'}`, () => {
      const moment = parseNowExpression(text);
      expect(moment && timestampOfNowOffset(moment, now)).to.equal(expected);
    });
  }
});
