import { expect } from 'chai';
import { warnOfMisspelledSettings } from '../../scripts/unknown-settings.ts';
import { withBootedTestPlugins } from '../support/test-plugins.ts';

describe('the command line', () => {
  it('warns of a setting whose name is one keystroke away from a declared one', async () => {
    await withBootedTestPlugins(
      [{ name: 'p', manifest: { config: { SESSION_LENGTH: { type: 'string' } } } }],
      ({ kernel, log }) => {
        warnOfMisspelledSettings(kernel);
        const lines = log.map((line) => line.msg);
        expect(lines).to.include('unknown setting SESSION_LENGHT: did you mean SESSION_LENGTH?');
        expect(lines.filter((line) => String(line).includes('PATH?'))).to.deep.equal([]);
      },
      {
        environment: { LOG_LEVEL: 'warn', SESSION_LENGHT: '1', SESSION_LENGTH_FILE: '', UNRELATED: '1', PATH: '/bin' },
      },
    );
  });
});
