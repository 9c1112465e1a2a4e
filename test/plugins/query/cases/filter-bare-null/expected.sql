select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (t1."price" is null) order by t1."id" limit 100) r
-- []
