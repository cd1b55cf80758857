build/obj/jni/address_handle.o: jni/address_handle.c jni/address_vector.h \
 jni/jni_util.h /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h verbs_api.h
jni/address_vector.h:
jni/jni_util.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/jni.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h:
verbs_api.h:
