import { expect } from 'chai';
import { ABSENT_SETTINGS, findAbsentSetting, findDeclaredAbsentSettings } from '../../scripts/absent-settings.ts';
import { warnOfAbsentSettings, warnOfMisspelledSettings } from '../../scripts/unknown-settings.ts';
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

  it('warns of a setting that is absent here, with what is in its place', async () => {
    await withBootedTestPlugins(
      [],
      ({ kernel, log }) => {
        warnOfAbsentSettings(kernel);
        expect(log.map((line) => line.msg)).to.deep.equal([
          'the setting DB_SEARCH_PATH has no effect: DB_SCHEMAS names the schemas that are served',
          'the setting SYNCHRONIZATION_STORE has no effect: processes find each other and agree by their database',
        ]);
      },
      {
        environment: { LOG_LEVEL: 'warn', DB_SEARCH_PATH: 'app', SYNCHRONIZATION_STORE: 'redis', DB_CLIENT: '' },
      },
    );
  });
});

describe('absent settings', () => {
  it('a name that a plugin declares cannot be absent as well', () => {
    const list = [
      { name: 'EMAIL_OLD_*', reason: 'none' },
      { name: 'TEMP', reason: 'none' },
    ];
    expect(findDeclaredAbsentSettings(['EMAIL_OLD_HOST', 'TEMP', 'TEMP_PATH', 'EMAIL_*'], list)).to.deep.equal([
      'EMAIL_OLD_HOST',
      'TEMP',
    ]);
  });

  it('are found by name, by pattern and by the name of their file', () => {
    expect(findAbsentSetting('TEMP_PATH')?.name).to.equal('TEMP_PATH');
    expect(findAbsentSetting('EMAIL_MAILGUN_API_KEY_FILE')?.name).to.equal('EMAIL_MAILGUN_*');
    expect(findAbsentSetting('HASH_TYPE_FILE')?.name).to.equal('HASH_TYPE');
    expect(findAbsentSetting('TEMP_PATHS')).to.equal(undefined);
  });

  it('are listed once each, with a reason', () => {
    const names = ABSENT_SETTINGS.map(({ name }) => name);
    expect(names).to.deep.equal([...new Set(names)]);
    expect(ABSENT_SETTINGS.filter(({ reason }) => reason.length < 5)).to.deep.equal([]);
  });
});
