import { expect } from 'chai';
import { objectName, stemOf } from '../../../plugins/files/disk-names.ts';
import { defaultName, downloadName } from '../../../plugins/files/names/download-name.ts';
import { extensionFor } from '../../../plugins/files/names/extension.ts';
import { titleOf } from '../../../plugins/files/names/title.ts';
import { declaredType, typeByName, typeFilter } from '../../../plugins/files/names/type.ts';
import { isPlainText } from '../../../plugins/files/upload/plain-text.ts';
import { variantPrefix } from '../../../plugins/storage/library.ts';

const ID = '0b7f3a4e-9a1c-4b52-8c3d-2f6f1f0e9d11';

describe('files: titles', () => {
  for (const [name, title] of [
    ['b-c_d.txt', 'B C D'],
    ['holiday.2026.jpeg', 'Holiday 2026'],
    ['camelCase stays.png', 'CamelCase Stays'],
    ['README', 'README'],
    ['.env', 'Env'],
    ['__--.txt', 'Txt'],
    ['élan-vital.md', 'Élan Vital'],
  ] as const) {
    it(`of ${name} is ${title}`, () => {
      expect(titleOf(name)).to.equal(title);
    });
  }

  it('fit their column', () => {
    expect([...titleOf('😀'.repeat(300))]).to.have.length(255);
  });
});

describe('files: names for downloads', () => {
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
    it(`take ${JSON.stringify(sent)} as ${JSON.stringify(name)}`, () => {
      expect(downloadName(sent)).to.equal(name);
    });
  }

  it('are none where nothing is left', () => {
    for (const sent of [undefined, '', '/', 'a/', '.', '..', 'x/..', '\0'])
      expect(downloadName(sent)).to.equal(undefined);
  });

  it('are cut in front of their extension', () => {
    const name = downloadName(`${'ä'.repeat(400)}.jpeg`) as string;
    expect([...name]).to.have.length(255);
    expect(name).to.match(/ä\.jpeg$/);
    expect([...(downloadName(`a.${'b'.repeat(400)}`) as string)]).to.have.length(255);
  });

  it('of files that have none say what they are', () => {
    expect([defaultName('image/png'), defaultName('x/unknown'), defaultName(undefined)]).to.deep.equal([
      'file.png',
      'file',
      'file',
    ]);
  });
});

describe('files: names of objects', () => {
  it('have the extension of the name where it is a sane one, else that of the type', () => {
    expect(extensionFor('a.JPG', 'text/plain')).to.equal('jpg');
    expect(extensionFor('a.tar.gz', undefined)).to.equal('gz');
    expect(extensionFor('a.b c', 'image/webp')).to.equal('webp');
    expect(extensionFor('a.ex/e', 'image/webp')).to.equal('webp');
    expect(extensionFor(`a.${'x'.repeat(17)}`, undefined)).to.equal(undefined);
    expect(extensionFor(undefined, 'x/unknown')).to.equal(undefined);
  });

  it('are known again, as are those of what was made of them', () => {
    const first = objectName(ID, 'png', true);
    const second = objectName(ID, undefined, false);
    expect(first).to.equal(`${ID}.png`);
    expect(second).to.match(new RegExp(`^${ID}-[0-9a-f]{8}$`));
    expect(objectName(ID, undefined, false)).not.to.equal(second);
    for (const name of [first, second]) {
      const stem = stemOf(name) as string;
      expect(variantPrefix(name)).to.equal(`${stem}__`);
      expect(stemOf(`${variantPrefix(name)}0123abcd.webp`)).to.equal(stem);
    }
  });

  it('of others are not ours', () => {
    for (const name of ['logo.png', `${ID}.p_g`, `x${ID}.png`, `${ID}-12.png`, `${ID.toUpperCase()}.png`, `tus-${ID}`])
      expect(stemOf(name), name).to.equal(undefined);
  });
});

describe('files: MIME types', () => {
  it('are taken without their parameters, of which the character set is kept', () => {
    expect(declaredType('Text/HTML; Charset="UTF-8"')).to.deep.equal({ type: 'text/html', charset: 'utf-8' });
    expect(declaredType('image/svg+xml')).to.deep.equal({ type: 'image/svg+xml', charset: undefined });
    for (const none of ['', 'text', 'a/b/c', 'a /b', '<x>/y', undefined, 7, `a/${'b'.repeat(200)}`])
      expect(declaredType(none), String(none)).to.equal(undefined);
  });

  it('are known by names', () => {
    expect([typeByName('a.png'), typeByName('a.nothing'), typeByName(undefined)]).to.deep.equal([
      'image/png',
      undefined,
      undefined,
    ]);
  });

  it('are let in by patterns', () => {
    const all = typeFilter(['*/*']);
    const some = typeFilter(['image/*', 'application/pdf', 'application/vnd.*']);
    expect([all('x/y'), typeFilter(['*'])('x/y'), typeFilter([])('x/y')]).to.deep.equal([true, true, false]);
    expect(['image/png', 'image/svg+xml', 'application/pdf', 'application/vnd.ms-excel'].every(some)).to.equal(true);
    expect(['imagex/png', 'text/plain', 'application/pdfx', 'application/vndx'].some(some)).to.equal(false);
  });
});

describe('files: plain text', () => {
  it('is what has nothing in it but letters and no markup', () => {
    for (const text of ['', 'hello\n', '{"a":1}', 'grüße'.repeat(900), 'a,b\r\n1,2'])
      expect(isPlainText(Buffer.from(text).subarray(0, 4096)), text.slice(0, 20)).to.equal(true);
    for (const other of ['<svg/>', ' \n<?xml?>', '%PDF-1.7', '{\\rtf1', 'a\0b', 'a\x01'])
      expect(isPlainText(Buffer.from(other)), other).to.equal(false);
    expect(isPlainText(Buffer.from([0x89, 0x50, 0x4e, 0x47]))).to.equal(false);
    expect(isPlainText(Buffer.from([0x41, 0xff, 0x41]))).to.equal(false);
  });
});
