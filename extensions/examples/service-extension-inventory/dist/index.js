export default {
  id: 'inventory',
  handler(router, { services, database, getSchema, exceptions }) {
    router.get('/collections', async (req, res, next) => {
      try {
        const { CollectionsService } = services;
        const service = new CollectionsService({ schema: await getSchema(), accountability: req.accountability });
        const collections = await service.readByQuery();
        res.json({ data: collections.map((one) => one.collection) });
      } catch (error) {
        next(error);
      }
    });
    router.get('/size', async (req, res, next) => {
      try {
        if (!req.accountability?.admin) throw new exceptions.ForbiddenException();
        const { rows } = await database.raw('select pg_database_size(current_database())::text as bytes');
        res.json({ data: { bytes: rows[0].bytes } });
      } catch (error) {
        next(error);
      }
    });
  },
};
