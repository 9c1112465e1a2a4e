import { expect } from 'chai';
import { FILTER_OPERATORS } from '../../../plugins/query/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { compileCaseToSql } from './query-cases.ts';
import { buildSketchedSchema } from './schema-sketch.ts';

const schema = buildSketchedSchema({ place: { id: 'integer key', spot: 'geometry' } });
const POINT = { type: 'Point', coordinates: [1, 1] };
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [3, 0],
      [3, 3],
      [0, 3],
      [0, 0],
    ],
  ],
};

const statement = (filter: object) =>
  compileCaseToSql({ collection: 'place', query: { fields: 'id', filter } }, schema);

describe('geometry fields', () => {
  describe('operands', () => {
    const VALID: readonly [name: string, operand: unknown][] = [
      ['a point', POINT],
      ['a point as text', JSON.stringify(POINT)],
      ['a point with a height', { type: 'Point', coordinates: [1, 2, 3] }],
      [
        'several points',
        {
          type: 'MultiPoint',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      ],
      ['a polygon', SQUARE],
      ['several polygons', { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] }],
      ['a collection', { type: 'GeometryCollection', geometries: [POINT, SQUARE] }],
    ];
    for (const [name, operand] of VALID) {
      it(`${name} is a valid operand`, () => {
        const { text, params } = statement({ spot: { _intersects: operand } });
        expect(text).to.include('ST_Intersects(t1."spot", ST_SetSRID(ST_GeomFromGeoJSON($1::text), 4326))');
        expect(JSON.parse(params[0] as string)).to.deep.equal(
          typeof operand === 'string' ? JSON.parse(operand) : operand,
        );
      });
    }

    const REFUSED: readonly unknown[] = [
      '',
      'x',
      '5',
      5,
      true,
      [],
      [1, 1],
      {},
      { type: 'Point' },
      { type: 'point', coordinates: [1, 1] },
      { type: 'Point', coordinates: [1] },
      { type: 'Point', coordinates: ['1', '1'] },
      { type: 'Point', coordinates: [null, 1] },
      { type: 'Point', coordinates: [[1, 1]] },
      { type: 'Polygon', coordinates: [[1, 1]] },
      { type: 'GeometryCollection', geometries: 5 },
      { type: 'Feature', geometry: POINT },
      { type: '__proto__', coordinates: [1, 1] },
      '$NOW',
      '$CURRENT_USER',
    ];
    for (const operand of REFUSED) {
      it(`the operand ${JSON.stringify(operand)} is refused with INVALID_QUERY`, () => {
        for (const operator of ['_eq', '_intersects', '_nintersects_bbox'])
          expect(() => statement({ spot: { [operator]: operand } }))
            .to.throw()
            .with.property('code', 'INVALID_QUERY');
      });
    }

    it('a geometry field has only equality, null and spatial operators', () => {
      const fits = FILTER_OPERATORS.filter((operator) => {
        try {
          return statement({ spot: { [operator]: operator.includes('null') ? true : POINT } });
        } catch {
          return false;
        }
      });
      expect(fits).to.have.members([
        ...['_eq', '_neq', '_null', '_nnull'],
        ...['_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox'],
      ]);
    });
  });

  /** Runs spatial queries if the server has PostGIS, and otherwise expects that the service refuses them. */
  describe('in the database', () => {
    let database: FreshDatabase;
    let service: InProcessService;
    let spatial: boolean;
    before(async () => {
      database = await freshDatabase('geometry');
      const [found] = await database.query(`select 1 from pg_available_extensions where name = 'postgis'`);
      spatial = found !== undefined;
      await database.query(`create table place (id serial primary key, place_point point)`);
      if (spatial)
        await database.query(`create extension postgis;
          alter table place add spot geometry(Point, 4326), add area geometry(Polygon, 4326), add untyped geometry,
            add flat geometry(Point, 3857), add globe geography(Point, 4326);
          insert into place (spot, area, untyped, flat, globe) values
            ('SRID=4326;POINT(1 1)', 'SRID=4326;POLYGON((0 0,2 0,2 2,0 2,0 0))', 'POINT(5 5)', 'SRID=3857;POINT(9 9)', 'SRID=4326;POINT(1 1)'),
            ('SRID=4326;POINT(9 9)', 'SRID=4326;POLYGON((8 8,10 8,10 10,8 10,8 8))', 'LINESTRING(0 0,9 9)', null, 'SRID=4326;POINT(9 9)'),
            (null, null, null, null, null);`);
      else await database.query(`insert into place (place_point) values ('(1,1)'), ('(9,9)'), (null)`);
      service = await startService({ database });
    });
    after(async () => {
      await service?.stop();
      await database?.drop();
    });

    const send = (method: string, path: string, body?: unknown) =>
      service.request(method, path, { token: service.admin.token, body });
    const search = async (query: object) => {
      const { status, body } = await send('SEARCH', '/items/place', { query });
      return status === 200 ? body.data : body.errors[0].extensions.code;
    };
    const found = async (filter: object) => {
      const rows = await search({ fields: 'id', filter });
      return Array.isArray(rows) ? rows.map(({ id }: { id: number }) => id) : rows;
    };

    it("'15.geometry': PostGIS types read as GeoJSON, other geometric types as text", async () => {
      const rows = await search({ fields: spatial ? 'spot,globe,flat' : 'place_point' });
      expect(rows[2]).to.deep.equal(spatial ? { spot: null, globe: null, flat: null } : { place_point: null });
      if (spatial) {
        expect(rows[0].spot).to.deep.equal(POINT);
        expect(rows[0].globe).to.deep.equal(POINT);
        expect(rows[0].flat.coordinates).to.deep.equal([9, 9]);
      } else expect(rows[0]).to.deep.equal({ place_point: '(1,1)' });
    });

    it("'3.geometry': spatial operators find rows by PostGIS columns and are refused on other types", async () => {
      const FINDS: readonly [field: string, operator: string, operand: unknown, ids: readonly number[] | string][] = [
        ['spot', '_eq', POINT, [1]],
        ['spot', '_neq', POINT, [2]],
        ['spot', '_intersects', SQUARE, [1]],
        ['spot', '_intersects', JSON.stringify(SQUARE), [1]],
        ['spot', '_nintersects', SQUARE, [2]],
        ['spot', '_intersects_bbox', SQUARE, [1]],
        ['spot', '_nintersects_bbox', SQUARE, [2]],
        ['spot', '_null', true, [3]],
        ['area', '_intersects', POINT, [1]],
        ['area', '_neq', SQUARE, [1, 2]],
        ['globe', '_intersects', SQUARE, [1]],
        ['globe', '_neq', POINT, [2]],
        ['globe', '_nintersects_bbox', SQUARE, [2]],
        // PostGIS does not compare geometries of different reference systems: the query is refused.
        ['flat', '_intersects', SQUARE, 'INVALID_QUERY'],
        ['untyped', '_intersects', SQUARE, 'INVALID_QUERY'],
      ];
      for (const [field, operator, operand, ids] of FINDS)
        if (spatial)
          expect(await found({ [field]: { [operator]: operand } }), `${field} ${operator}`).to.deep.equal(ids);
        else if (operator !== '_null' && typeof operand !== 'string')
          expect(await found({ place_point: { [operator]: operand } }), operator).to.equal('INVALID_QUERY');
    });

    it('a geometry field cannot be sorted by or aggregated with max', async () => {
      const name = spatial ? 'spot' : 'place_point';
      expect(await search({ sort: name })).to.equal('INVALID_QUERY');
      expect(await search({ aggregate: { max: name } })).to.equal('INVALID_QUERY');
      expect(await search({ aggregate: { countDistinct: name } })).to.deep.equal([{ countDistinct: { [name]: 2 } }]);
    });

    it('POST /fields creates a geometry column with PostGIS and refuses it without', async () => {
      const created = await send('POST', '/fields/place', { field: 'location', type: 'geometry.Point' });
      expect(created.status).to.equal(spatial ? 200 : 400);
      if (!spatial) return expect(created.body.errors[0].extensions.code).to.equal('INVALID_PAYLOAD');
      const { status, body } = await send('POST', '/items/place?fields=location', { location: POINT });
      expect([status, body.data]).to.deep.equal([200, { location: POINT }]);
      const changed = await send('PATCH', '/items/place/1?fields=spot', { spot: { ...POINT, coordinates: [7, 7] } });
      expect(changed.body.data).to.deep.equal({ spot: { type: 'Point', coordinates: [7, 7] } });
      const wrong = await send('PATCH', '/items/place/1', { spot: SQUARE });
      expect([wrong.status, wrong.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });
  });
});
