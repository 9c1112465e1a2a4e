select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 order by (case when t1."ok" = $1::boolean then t1."title" end), t1."id" limit 100) r
-- [true]
