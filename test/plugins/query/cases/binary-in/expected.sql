select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (t1."bytes" = any($1::bytea[])) order by t1."id" limit 100) r
-- [["\\xdeadbeef"]]
