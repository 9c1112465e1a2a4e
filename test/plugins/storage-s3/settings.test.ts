import { expect } from 'chai';
import { parseS3Settings, type S3Settings } from '../../../plugins/storage-s3/settings.ts';

const read = (settings: Readonly<Record<string, string>>): S3Settings =>
  parseS3Settings({ location: 'my-files', setting: (key) => settings[key] });
const refusal = (settings: Readonly<Record<string, string>>): string => {
  try {
    read(settings);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

const SOUND = { KEY: 'key', SECRET: 'secret', BUCKET: 'files', REGION: 'eu-central-1' };

describe('storage-s3: settings', () => {
  it('AWS needs bucket, region, key and secret', () => {
    expect(read(SOUND)).to.deep.equal({
      bucket: 'files',
      region: 'eu-central-1',
      endpoint: undefined,
      forcePathStyle: false,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      acl: undefined,
      encryption: undefined,
      root: '',
      checksums: false,
    });
  });

  it('all settings are read', () => {
    const all = read({
      ...SOUND,
      ENDPOINT: 'http://10.0.0.5:9000',
      FORCE_PATH_STYLE: 'true',
      ACL: 'public-read',
      SERVER_SIDE_ENCRYPTION: 'AES256',
      ROOT: 'uploads',
      CHECKSUMS: '1',
    });
    expect(all).to.include({
      endpoint: 'http://10.0.0.5:9000',
      forcePathStyle: true,
      acl: 'public-read',
      encryption: 'AES256',
      root: 'uploads/',
      checksums: true,
    });
  });

  it('an ENDPOINT needs no region and no scheme', () => {
    const { REGION: _, ...rest } = SOUND;
    expect(read({ ...rest, ENDPOINT: 'storage.example.com' })).to.include({
      region: 'us-east-1',
      endpoint: 'https://storage.example.com',
    });
  });

  it('credentials may be left to the machine', () => {
    expect(read({ BUCKET: 'files', REGION: 'eu-central-1' }).credentials).to.equal(undefined);
  });

  for (const [root, key] of [
    ['uploads', 'uploads/'],
    ['/uploads/', 'uploads/'],
    ['./a/b', 'a/b/'],
    ['a//b/', 'a/b/'],
    ['/', ''],
    ['.', ''],
  ] as const) {
    it(`ROOT=${root} puts objects below ${JSON.stringify(key)}`, () => {
      expect(read({ ...SOUND, ROOT: root }).root).to.equal(key);
    });
  }

  for (const [what, settings, variable, reason] of [
    ['without a bucket', { BUCKET: '' }, 'BUCKET', 'is not set'],
    ['without a region', { REGION: '' }, 'REGION', 'is not set'],
    ['without a key for the secret', { KEY: '' }, 'KEY', 'is not set, although STORAGE_MY_FILES_SECRET is'],
    ['without a secret for the key', { SECRET: '' }, 'SECRET', 'is not set, although STORAGE_MY_FILES_KEY is'],
    ['with an address that is none', { ENDPOINT: 'https://' }, 'ENDPOINT', 'is no address of a server'],
    ['with an address of something else', { ENDPOINT: 'ftp://a.example' }, 'ENDPOINT', 'is no address of a server'],
    ['with a way out of the bucket', { ROOT: 'a/../..' }, 'ROOT', 'leads out of the bucket'],
    ['with a word for a truth', { FORCE_PATH_STYLE: 'maybe' }, 'FORCE_PATH_STYLE', 'must be true or false'],
    ['with another', { CHECKSUMS: 'crc' }, 'CHECKSUMS', 'must be true or false'],
  ] as const) {
    it(`settings ${what} are rejected with the name of the variable`, () => {
      const values: Record<string, string> = { ...SOUND, ...settings };
      for (const [key, value] of Object.entries(values)) if (value === '') delete values[key];
      expect(refusal(values)).to.include(`STORAGE_MY_FILES_${variable} ${reason}`);
    });
  }

  it('an error never shows the secret', () => {
    expect(refusal({ ...SOUND, SECRET: 'hush-hush', ROOT: '..' })).not.to.include('hush-hush');
  });
});
