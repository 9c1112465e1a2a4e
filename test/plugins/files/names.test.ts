import { expect } from 'chai';
import { defaultDownloadName, toDownloadName } from '../../../plugins/files/names/download-name.ts';
import {
  createMimeTypeFilter,
  guessMimeTypeByFilename,
  parseMimeType,
} from '../../../plugins/files/names/mime-type.ts';
import { fileExtensionForStoredObject } from '../../../plugins/files/names/object-extension.ts';
import { fileNameToTitle } from '../../../plugins/files/names/title.ts';
import { createObjectName, parseObjectNameStem } from '../../../plugins/files/object-names.ts';
import { isHeadPlainText } from '../../../plugins/files/upload/plain-text.ts';
import { variantPrefix } from '../../../plugins/storage/library.ts';

const ID = '0b7f3a4e-9a1c-4b52-8c3d-2f6f1f0e9d11';

describe('fileNameToTitle', () => {
  for (const [name, title] of [
    ['b-c_d.txt', 'B C D'],
    ['holiday.2026.jpeg', 'Holiday 2026'],
    ['camelCase stays.png', 'CamelCase Stays'],
    ['README', 'README'],
    ['.env', 'Env'],
    ['__--.txt', 'Txt'],
    ['élan-vital.md', 'Élan Vital'],
  ] as const) {
    it(`the title of ${name} is ${title}`, () => {
      expect(fileNameToTitle(name)).to.equal(title);
    });
  }

  it('a title is cut to 255 characters', () => {
    expect([...fileNameToTitle('😀'.repeat(300))]).to.have.length(255);
  });
});

describe('toDownloadName and defaultName', () => {
  for (const [sent, name] of [
    ['picture.png', 'picture.png'],
    ['C:\\Users\\ann\\picture.png', 'picture.png'],
    ['../../etc/passwd', 'passwd'],
    ['line\r\nbreak.txt', 'linebreak.txt'],
    ['gnp.\u202eexe.png', 'gnp.exe.png'],
    ['zero\0.txt', 'zero.txt'],
    [' spaced .txt ', 'spaced .txt'],
    ['half \ud800.txt', 'half \ufffd.txt'],
  ] as const) {
    it(`the download name of ${JSON.stringify(sent)} is ${JSON.stringify(name)}`, () => {
      expect(toDownloadName(sent)).to.equal(name);
    });
  }

  it('a name with nothing left after cleaning is no download name', () => {
    for (const sent of [undefined, '', '/', 'a/', '.', '..', 'x/..', '\0'])
      expect(toDownloadName(sent)).to.equal(undefined);
  });

  it('a long download name is cut in front of its extension', () => {
    const name = toDownloadName(`${'ä'.repeat(400)}.jpeg`) as string;
    expect([...name]).to.have.length(255);
    expect(name).to.match(/ä\.jpeg$/);
    expect([...(toDownloadName(`a.${'b'.repeat(400)}`) as string)]).to.have.length(255);
  });

  it('a file without a name is called "file" with the extension of its type', () => {
    expect([
      defaultDownloadName('image/png'),
      defaultDownloadName('x/unknown'),
      defaultDownloadName(undefined),
    ]).to.deep.equal(['file.png', 'file', 'file']);
  });
});

describe('names of objects in storage', () => {
  it('an object has the extension of the name if that is valid, else the extension of the type', () => {
    expect(fileExtensionForStoredObject('a.JPG', 'text/plain')).to.equal('jpg');
    expect(fileExtensionForStoredObject('a.tar.gz', undefined)).to.equal('gz');
    expect(fileExtensionForStoredObject('a.b c', 'image/webp')).to.equal('webp');
    expect(fileExtensionForStoredObject('a.ex/e', 'image/webp')).to.equal('webp');
    expect(fileExtensionForStoredObject(`a.${'x'.repeat(17)}`, undefined)).to.equal(undefined);
    expect(fileExtensionForStoredObject(undefined, 'x/unknown')).to.equal(undefined);
  });

  it('parseStem reads the stem of an object name and of the names of its variants', () => {
    const first = createObjectName(ID, 'png', true);
    const second = createObjectName(ID, undefined, false);
    expect(first).to.equal(`${ID}.png`);
    expect(second).to.match(new RegExp(`^${ID}-[0-9a-f]{8}$`));
    expect(createObjectName(ID, undefined, false)).not.to.equal(second);
    for (const name of [first, second]) {
      const stem = parseObjectNameStem(name) as string;
      expect(variantPrefix(name)).to.equal(`${stem}__`);
      expect(parseObjectNameStem(`${variantPrefix(name)}0123abcd.webp`)).to.equal(stem);
    }
  });

  it('parseStem rejects names that the service does not create', () => {
    for (const name of ['logo.png', `${ID}.p_g`, `x${ID}.png`, `${ID}-12.png`, `${ID.toUpperCase()}.png`, `tus-${ID}`])
      expect(parseObjectNameStem(name), name).to.equal(undefined);
  });
});

describe('MIME types of files', () => {
  it('parseMimeType drops the parameters and keeps the charset', () => {
    expect(parseMimeType('Text/HTML; Charset="UTF-8"')).to.deep.equal({ type: 'text/html', charset: 'utf-8' });
    expect(parseMimeType('image/svg+xml')).to.deep.equal({ type: 'image/svg+xml', charset: undefined });
    for (const none of ['', 'text', 'a/b/c', 'a /b', '<x>/y', undefined, 7, `a/${'b'.repeat(200)}`])
      expect(parseMimeType(none), String(none)).to.equal(undefined);
  });

  it('guessMimeTypeByFilename knows types by extension', () => {
    expect([
      guessMimeTypeByFilename('a.png'),
      guessMimeTypeByFilename('a.nothing'),
      guessMimeTypeByFilename(undefined),
    ]).to.deep.equal(['image/png', undefined, undefined]);
  });

  it('createTypeFilter matches types by patterns', () => {
    const all = createMimeTypeFilter(['*/*']);
    const some = createMimeTypeFilter(['image/*', 'application/pdf', 'application/vnd.*']);
    expect([all('x/y'), createMimeTypeFilter(['*'])('x/y'), createMimeTypeFilter([])('x/y')]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(['image/png', 'image/svg+xml', 'application/pdf', 'application/vnd.ms-excel'].every(some)).to.equal(true);
    expect(['imagex/png', 'text/plain', 'application/pdfx', 'application/vndx'].some(some)).to.equal(false);
  });
});

describe('isHeadPlainText', () => {
  it('text without markup and control bytes is plain text', () => {
    for (const text of ['', 'hello\n', '{"a":1}', 'grüße'.repeat(900), 'a,b\r\n1,2'])
      expect(isHeadPlainText(Buffer.from(text).subarray(0, 4096)), text.slice(0, 20)).to.equal(true);
    for (const other of ['<svg/>', ' \n<?xml?>', '%PDF-1.7', '{\\rtf1', 'a\0b', 'a\x01'])
      expect(isHeadPlainText(Buffer.from(other)), other).to.equal(false);
    expect(isHeadPlainText(Buffer.from([0x89, 0x50, 0x4e, 0x47]))).to.equal(false);
    expect(isHeadPlainText(Buffer.from([0x41, 0xff, 0x41]))).to.equal(false);
  });
});
