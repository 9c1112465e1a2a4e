import { expect } from 'chai';
import { argonPasswords } from '../../../plugins/passwords/argon.ts';

describe('passwords', () => {
  const passwords = argonPasswords({ memory: 1024, time: 2, parallelism: 1 });

  it('are kept as Argon2id', async () => {
    const stored = await passwords.hash('correct horse');
    expect(stored).to.match(/^\$argon2id\$v=19\$/);
    expect(await passwords.hash('correct horse')).not.to.equal(stored);
    expect(await passwords.verify(stored, 'correct horse')).to.equal(true);
    expect(await passwords.verify(stored, 'Correct horse')).to.equal(false);
  });

  it('do not match what is no hash', async () => {
    for (const stored of ['', 'correct horse', '$argon2id$nonsense']) {
      expect(await passwords.verify(stored, 'correct horse')).to.equal(false);
    }
  });
});
