select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."film" as "film", t1."name" as "name" from "public"."role" t1 order by t1."film", t1."actor" limit 100) r
-- []
