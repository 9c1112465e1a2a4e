select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."title" as "constructor", t1."price"::text as "toString" from "public"."book" t1 order by t1."id" limit 1) r
-- []
