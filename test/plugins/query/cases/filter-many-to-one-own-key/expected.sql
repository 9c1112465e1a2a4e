select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where ((t1."author" = any($1::int8[]) or t1."author" is null)) order by t1."id" limit 100) r
-- [["2","3"]]
