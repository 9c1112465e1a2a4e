import { expect } from 'chai';
import {
  decodeGraphqlAlias,
  decodeGraphqlAliasesInPath,
  findAlternativeGraphqlAlias,
  toGraphqlName,
} from '../../../../plugins/graphql/schema/database-name-aliases.ts';
import { createSeededRandom } from '../../../support/random.ts';

const NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;
/** Texts that are no GraphQL names, or that look like the beginning, middle or end of an alias. */
const PARTS = [
  ' ', '-', '.', '"', "'", '\n', 'ä', 'ß', 'я', '国', '😀', '0', '7', 'A', 'F', 'a', 'z', 'x', '_', '__', '_u', 'u', '_u0020',
  '_u0020_', '0020_', '_u00200020_', '_z', 'func', '_aggregated',
]; // biome-ignore format: a list

describe('toAlias', () => {
  it('leaves GraphQL names unchanged', () => {
    for (const name of ['id', 'zip_code', '_x', '_', 'sales_u2024', 'players_u21_count', 'pos_x10_y20', 'a__b', '_zip'])
      expect(toGraphqlName(name)).to.equal(name);
  });

  it('escapes characters that a name cannot have as their UTF-16 code units', () => {
    const aliases = {
      'zip code': 'zip_u0020_code',
      'first-name': 'first_u002D_name',
      '2fa': '_u0032_fa',
      größe: 'gr_u00F600DF_e',
      __x: '_u005F__x',
      '_ x': '_u005F0020_x',
      '': '_u0000_',
      '😀': '_uD83DDE00_',
      цена: '_u04460435043D0430_',
      a_u0020_b: 'a_u005F_u0020_b',
    };
    for (const [text, alias] of Object.entries(aliases)) expect(toGraphqlName(text), text).to.equal(alias);
  });

  it('gives each text an alias of its own, from which the text can be read back, whatever other texts there are', () => {
    const random = createSeededRandom(1);
    const texts = new Set<string>();
    while (texts.size < 20_000) {
      let text = '';
      for (let left = 1 + random.upTo(12); left > 0; left--) text += random.one(PARTS);
      if (Buffer.byteLength(text) <= 63) texts.add(text);
    }
    const aliases = new Map<string, string>();
    for (const text of texts) {
      const alias = toGraphqlName(text);
      expect(alias, JSON.stringify(text)).to.match(NAME);
      expect(alias.length, JSON.stringify(text)).to.be.at.most(90);
      expect(decodeGraphqlAlias(alias), `${JSON.stringify(text)} is ${alias}`).to.equal(text);
      expect(aliases.get(alias), alias).to.equal(undefined);
      aliases.set(alias, text);
      const beside = findAlternativeGraphqlAlias(text, (one) => texts.has(one) || aliases.has(one));
      expect(beside, JSON.stringify(text)).to.match(NAME);
      expect(decodeGraphqlAlias(beside), `${JSON.stringify(text)} is ${beside}`).to.equal(text);
    }
    // An alias does not depend on the order in which texts are converted.
    for (const text of [...texts].reverse()) expect(aliases.get(toGraphqlName(text))).to.equal(text);
  });

  it('answers names that documents may have, for texts of any length', () => {
    for (const text of [' '.repeat(63), 'я'.repeat(31), 'a '.repeat(31), '国'.repeat(21), `_z${'A'.repeat(61)}`]) {
      expect(toGraphqlName(text)).to.match(NAME).and.have.length.at.most(90);
      expect(decodeGraphqlAlias(toGraphqlName(text))).to.equal(text);
    }
  });

  it('an alias is reversed inside paths and functions by toOriginals', () => {
    expect(decodeGraphqlAliasesInPath('-owner.zip_u0020_code')).to.equal('-owner.zip code');
    expect(decodeGraphqlAliasesInPath('year(first_u0020_day)')).to.equal('year(first day)');
    expect(decodeGraphqlAliasesInPath(`-_zip.${toGraphqlName('я'.repeat(31))}`)).to.equal(`-_zip.${'я'.repeat(31)}`);
  });
});
